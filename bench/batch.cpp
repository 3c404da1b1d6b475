// A batch of 20,000 arguments: a loop of calls of the compiled function, against batch(f), which is a map, and against batch(f) in the
// context `batched`, which vectorises loops whose trip count is the same for all elements. In the last workload trip counts differ, and
// `batched` does not change the loop: iterating with a mask until all lanes have ended is slower.
#include "ratio.hpp"

#include <overdub/batch.hpp>
#include <overdub/compile/compile.hpp>
#include <overdub/jit/executor.hpp>

#include <cstdint>
#include <random>
#include <tuple>
#include <vector>

namespace {

namespace od = overdub;
using od::i64;

inline constexpr auto logistic = od::fn<"logistic">(
    [](auto x, auto r) { return od::loop(100, x, [&](auto, auto y) { return r * y * (1.0 - y); }); });
inline constexpr auto root = od::fn<"root">(
    [](auto a, auto start) { return od::loop(20, start, [&](auto, auto x) { return 0.5 * (x + a / x); }); });
inline constexpr auto escape = od::fn<"escape">([](od::scope auto& cx, auto x0, auto y0) {
  auto const start = std::tuple{cx.lift(0.0), cx.lift(0.0), cx.lift(i64{0})};
  auto const last = od::while_(
      start,
      [](auto s) {
        auto const [x, y, k] = s;
        return x * x + y * y < 4.0 && k < i64{256};
      },
      [&](auto s) {
        auto const [x, y, k] = s;
        return std::tuple{x * x - y * y + x0, 2.0 * x * y + y0, k + i64{1}};
      });
  return std::get<2>(last);
});

od::compile_options const machine_code{.executor = od::jit::compiled(), .tiers = od::tiers::compile_now};

std::vector<double> numbers(double low, double high) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> next(low, high);
  std::vector<double> all(20'000);
  for (double& x : all) x = next(random);
  return all;
}

template <class R, class F, class Y>
void compare(char const* question, F const& f, std::vector<double> const& a, Y const& b, double goal) {
  auto const xs = od::array<double>::borrow(a);
  auto const second = [&] {
    if constexpr (std::is_same_v<Y, double>)
      return b;
    else
      return od::array<double>::borrow(b);
  }();
  using second_type = std::remove_const_t<decltype(second)>;
  auto const one = od::compile(od::compose(), f, od::signature<double, double>, machine_code);
  auto const map =
      od::compile(od::compose(), od::batch(f), od::signature<od::array<double>, second_type>, machine_code);
  auto const together =
      od::compile(od::batched{}, od::batch(f), od::signature<od::array<double>, second_type>, machine_code);
  std::vector<R> results(a.size());
  bench::compare(
      question,
      bench::way{
          "a loop of calls", 0,
          [&] {
            for (std::size_t i = 0; i < a.size(); ++i) {
              if constexpr (std::is_same_v<Y, double>)
                results[i] = one(a[i], b);
              else
                results[i] = one(a[i], b[i]);
            }
            bench::forget_memory();
            return results[0];
          }},
      bench::way{"batch(f)", 1.05, [&] { return map(xs, second)[0]; }},
      bench::way{"batch(f) in batched", goal, [&] { return together(xs, second)[0]; }});
}

} // namespace

int main() {
  compare<double>("100 steps of the logistic map", logistic, numbers(0.1, 0.9), 3.7, 0.25);
  compare<double>("20 steps of Newton's method", root, numbers(1, 9), 1.0, 0.25);
  compare<i64>("steps until z * z + c escapes, at most 256", escape, numbers(-2, 1), numbers(-1, 1), 1.05);
}
