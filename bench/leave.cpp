// A function that a context does not enter, against a plain call of the function.
#include "ratio.hpp"

#include <overdub/overdub.hpp>

#include <cmath>

namespace {

// Counts all calls, and enters no function.
struct outside : overdub::context {
  long calls = 0;
  void before(overdub::callee auto, auto const&...) { ++calls; }
  auto enter(overdub::callee auto) const { return overdub::leave; }
};
struct stateless : overdub::context {
  auto enter(overdub::callee auto) const { return overdub::leave; }
};

// The solution of x = cos(x + a), by iteration.
inline constexpr auto fixed_point = overdub::fn<"fixed_point">([](auto a) {
  return overdub::loop(overdub::i64{20}, a, [a](auto, auto x) { return overdub::cos(x + a); });
});
double by_hand(double a) {
  double x = a;
  for (int i = 0; i < 20; ++i) x = std::cos(x + a);
  return x;
}

inline constexpr auto fib = overdub::fn<"fib">([](overdub::scope auto& cx, auto n) -> decltype(n) {
  return overdub::if_(
      n < 2.0, [&] { return n; }, [&] { return cx.self(n - 1.0) + cx.self(n - 2.0); });
});
double fib_by_hand(double n) { return n < 2.0 ? n : fib_by_hand(n - 1.0) + fib_by_hand(n - 2.0); }

template <class F, class Hand>
void ask(char const* question, F const& f, Hand const& hand, double x) {
  stateless a;
  outside b;
  bench::compare<bench::allocating::forbidden>(
      question, //
      bench::way{"called plainly", 0, [&] { return f(bench::opaque(x)); }},
      bench::way{"left by a context", 1.0, [&] { return overdub::run(a, f, bench::opaque(x)); }},
      bench::way{"left by one that counts calls", 1.0, [&] { return overdub::run(b, f, bench::opaque(x)); }},
      bench::way{"by hand", 0, [&] { return hand(bench::opaque(x)); }});
}

} // namespace

int main() {
  ask("twenty iterations of cos(x + a)", fixed_point, by_hand, 0.1);
  ask("fib(20), recursive", fib, fib_by_hand, 20.0);
}
