// A function in contexts without rules and hooks compiles to the code of the function: identical instructions with
// clang; with g++ identical except for register allocation, moves between registers, and the release of array handles
// in exception paths.
//
// same (clang): norm_plain norm_noop
// same (clang): norm_plain norm_four_noops
// same (clang): chain_plain chain_noop
// same (clang): chain_plain chain_four_noops
// same (clang): fib_plain fib_noop
// same (clang): fib_plain fib_four_noops
// same_count (clang): rosenbrock_plain rosenbrock_noop 1.05
// same_count (clang): rosenbrock_plain rosenbrock_four_noops 1.05
// same_count (clang): rosenbrock_by_hand rosenbrock_plain 1.0
//
// same_count (g++): norm_plain norm_noop 1.25
// same_count (g++): norm_plain norm_four_noops 1.25
// same_count (g++): chain_plain chain_noop 1.0
// same_count (g++): chain_plain chain_four_noops 1.0
// same_count (g++): fib_plain fib_noop 1.4
// same_count (g++): fib_plain fib_four_noops 1.4
// same_count (g++): rosenbrock_plain rosenbrock_noop 1.6
// same_count (g++): rosenbrock_plain rosenbrock_four_noops 1.6
// same (g++): norm_noop norm_four_noops
// same (g++): chain_noop chain_four_noops
// same (g++): fib_noop fib_four_noops
// same_count (g++): rosenbrock_noop rosenbrock_four_noops 1.0
//
// same_count: fib_by_hand fib_plain 1.1
#include <overdub/overdub.hpp>

#include <cmath>
#include <cstddef>

namespace {

template <int>
struct noop : overdub::context {};

inline constexpr auto norm = overdub::fn<"norm">([](auto x, auto y) { return overdub::sqrt(x * x + y * y); });

inline constexpr auto chain = overdub::fn<"chain">([](auto x) {
  auto const a = norm(x, 2.0 * x + 1.0);
  return overdub::exp(norm(a - x, a)) / (1.0 + a);
});

inline constexpr auto rosenbrock = overdub::fn<"rosenbrock">([](auto const& x) {
  return overdub::loop(overdub::size(x) - 1, 0.0, [&](auto i, auto sum) {
    auto const a = overdub::at(x, i), b = overdub::at(x, i + 1);
    return sum + 100.0 * (b - a * a) * (b - a * a) + (1.0 - a) * (1.0 - a);
  });
});

inline constexpr auto fib = overdub::fn<"fib">([](overdub::scope auto& cx, auto n) -> decltype(n) {
  return overdub::if_(
      n < 2.0, [&] { return n; }, [&] { return cx.self(n - 1.0) + cx.self(n - 2.0); });
});

auto one() { return noop<0>{}; }
auto four() { return overdub::compose(noop<0>{}, noop<1>{}, noop<2>{}, noop<3>{}); }

overdub::array<double> borrowed(double const* x, std::size_t n) {
  return overdub::array<double>::borrow({x, n});
}

} // namespace

extern "C" {
double norm_plain(double x, double y) { return norm(x, y); }
double norm_noop(double x, double y) { return overdub::run(one(), norm, x, y); }
double norm_four_noops(double x, double y) { return overdub::run(four(), norm, x, y); }

double chain_plain(double x) { return chain(x); }
double chain_noop(double x) { return overdub::run(one(), chain, x); }
double chain_four_noops(double x) { return overdub::run(four(), chain, x); }

double rosenbrock_plain(double const* x, std::size_t n) { return rosenbrock(borrowed(x, n)); }
double rosenbrock_noop(double const* x, std::size_t n) {
  return overdub::run(one(), rosenbrock, borrowed(x, n));
}
double rosenbrock_four_noops(double const* x, std::size_t n) {
  return overdub::run(four(), rosenbrock, borrowed(x, n));
}
double rosenbrock_by_hand(double const* x, std::size_t n) {
  double sum = 0.0;
  for (std::size_t i = 0; i + 1 < n; ++i) {
    double const a = x[i], b = x[i + 1];
    sum = sum + 100.0 * (b - a * a) * (b - a * a) + (1.0 - a) * (1.0 - a);
  }
  return sum;
}

double fib_plain(double n) { return fib(n); }
double fib_noop(double n) { return overdub::run(one(), fib, n); }
double fib_four_noops(double n) { return overdub::run(four(), fib, n); }
[[gnu::noinline]] double fib_by_hand(double n) {
  return n < 2.0 ? n : fib_by_hand(n - 1.0) + fib_by_hand(n - 2.0);
}
}
