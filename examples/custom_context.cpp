// A user's context: a profiler in 20 lines. It records the number of calls and the time of each function.
#include <overdub/overdub.hpp>

#include <chrono>
#include <cstdio>
#include <exception>
#include <map>
#include <string_view>
#include <vector>

namespace od = overdub;

struct profile : od::context {
  using clock = std::chrono::steady_clock;
  struct row {
    long calls = 0;
    clock::duration time{};
  };
  std::map<std::string_view, row> rows;
  std::vector<clock::time_point> started;

  // Hooks for functions: primitives are not observed, and have no overhead.
  void before(od::function auto, auto const&...) { started.push_back(clock::now()); }
  void after(od::function auto f, auto const&...) { leave(f.name()); }
  void failed(od::function auto f, std::exception_ptr, auto const&...) { leave(f.name()); }

private:
  void leave(std::string_view name) {
    row& r = rows[name];
    ++r.calls;
    r.time += clock::now() - started.back();
    started.pop_back();
  }
};

// The mean of the logistic map after 1,000 iterations, over 100 initial values.
inline constexpr auto step = od::fn<"step">([](auto x, auto r) { return r * x * (1.0 - x); });
inline constexpr auto walk = od::fn<"walk">(
    [](auto x, auto r) { return od::loop(1000, x, [&](auto, auto y) { return step(y, r); }); });
inline constexpr auto mean = od::fn<"mean">([](od::scope auto& cx, auto r) {
  auto const end = [&](auto i) { return walk(0.1 + 0.001 * od::convert<double>(i), r); };
  auto const ends = cx(od::map, end, od::iota(100)); // the scope calls map in the contexts
  return od::sum(ends) / 100.0;
});

int main() {
  profile p;
  double const y = od::run(p, mean, 3.7);
  std::printf("mean = %.6f\n", y);
  for (auto const& [name, row] : p.rows)
    std::printf(
        "%-5.*s %7ld calls %8.3f ms\n", static_cast<int>(name.size()), name.data(), row.calls,
        std::chrono::duration<double, std::milli>(row.time).count());
  bool const right = p.rows["mean"].calls == 1 && p.rows["walk"].calls == 100 &&
                     p.rows["step"].calls == 100000 && p.rows["mean"].time >= p.rows["walk"].time &&
                     p.started.empty() && y == mean(3.7);
  return right ? 0 : 1;
}
