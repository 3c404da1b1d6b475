// A context without rules and hooks: f in one, in four nested ones and in one with state, against a plain call of f.
#include "ratio.hpp"

#include <overdub/overdub.hpp>

#include <cmath>
#include <cstddef>
#include <span>

namespace {

template <int>
struct noop : overdub::context {};
struct stateful : overdub::context {
  [[maybe_unused]] long state = 0;
};

inline constexpr auto rosenbrock = overdub::fn<"rosenbrock">([](auto const& x) {
  return overdub::loop(overdub::size(x) - 1, 0.0, [&](auto i, auto sum) {
    auto const a = overdub::at(x, i), b = overdub::at(x, i + 1);
    return sum + 100.0 * (b - a * a) * (b - a * a) + (1.0 - a) * (1.0 - a);
  });
});
double rosenbrock_by_hand(std::span<double const> x) {
  double sum = 0;
  for (std::size_t i = 0; i + 1 < x.size(); ++i) {
    double const a = x[i], b = x[i + 1];
    sum = sum + 100.0 * (b - a * a) * (b - a * a) + (1.0 - a) * (1.0 - a);
  }
  return sum;
}

inline constexpr auto norm = overdub::fn<"norm">([](auto x, auto y) { return overdub::sqrt(x * x + y * y); });
inline constexpr auto chain = overdub::fn<"chain">([](auto x) {
  auto const a = norm(x, 2.0 * x + 1.0);
  auto const b = norm(a - x, a * x);
  return norm(a, b) / (1.0 + a * b);
});
double norm_by_hand(double x, double y) { return std::sqrt(x * x + y * y); }
double chain_by_hand(double x) {
  double const a = norm_by_hand(x, 2.0 * x + 1.0);
  double const b = norm_by_hand(a - x, a * x);
  return norm_by_hand(a, b) / (1.0 + a * b);
}

inline constexpr auto fib = overdub::fn<"fib">([](overdub::scope auto& cx, auto n) -> decltype(n) {
  return overdub::if_(
      n < 2.0, [&] { return n; }, [&] { return cx.self(n - 1.0) + cx.self(n - 2.0); });
});
double fib_by_hand(double n) { return n < 2.0 ? n : fib_by_hand(n - 1.0) + fib_by_hand(n - 2.0); }

// Times f in all of these contexts. `argument` returns an argument that is opaque to the optimiser.
template <class F, class Hand, class Argument>
void ask(char const* question, F const& f, Hand const& hand, Argument const& argument, double stateful_goal) {
  noop<0> a;
  noop<1> b;
  noop<2> c;
  noop<3> d;
  stateful e;
  bench::compare<bench::allocating::forbidden>(
      question, bench::way{"called plainly", 0, [&] { return f(argument()); }},
      bench::way{"under a no-op", 1.02, [&] { return overdub::run(a, f, argument()); }},
      bench::way{
          "under four no-ops", 1.02,
          [&] { return overdub::run(overdub::compose(a, b, c, d), f, argument()); }},
      bench::way{"under a context with state", stateful_goal, [&] { return overdub::run(e, f, argument()); }},
      bench::way{"by hand", 0, [&] { return hand(argument()); }});
}

} // namespace

int main() {
  double numbers[1000];
  for (int i = 0; i < 1000; ++i) numbers[i] = 1.0 + 1e-3 * i;
  auto const xs = overdub::array<double>::borrow(numbers);
  auto handle = [&]() -> auto const& {
    bench::forget_memory();
    return xs;
  };
  ask(
      "rosenbrock of 1000 numbers", rosenbrock, [](auto const& x) { return rosenbrock_by_hand(x.span()); },
      handle, 0);
  ask(
      "a chain of calls on one number", chain, chain_by_hand, [] { return bench::opaque(1.25); }, 0);
  ask(
      "fib(20), recursive", fib, fib_by_hand, [] { return bench::opaque(20.0); }, 1.2);
}
