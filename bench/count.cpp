// What does it cost to count calls? 100,000,000 of them, against a counter written into the program by hand.
#include "ratio.hpp"

#include <overdub/overdub.hpp>

namespace {

struct count : overdub::context {
  long calls = 0;
  void before(overdub::callee auto, auto const&...) { ++calls; }
};

// n steps of a recurrence: 3 calls in each, of mul, sub and the function itself.
constexpr long steps = 33'333'333;

inline constexpr auto step = overdub::fn<"step">([](auto x) { return 1.5 - x * x; });
double iterate(count& context) {
  double x = bench::opaque(0.5);
  for (long i = 0; i < steps; ++i) x = overdub::run(context, step, x);
  return x;
}
double iterate_by_hand(long& calls) {
  double x = bench::opaque(0.5);
  for (long i = 0; i < steps; ++i) {
    ++calls; // step
    ++calls;
    double const square = x * x;
    ++calls;
    x = 1.5 - square;
  }
  return x;
}

// In each call of fib 8 calls when it recurses, and 3 when not.
inline constexpr auto fib = overdub::fn<"fib">([](overdub::scope auto& cx, auto n) -> decltype(n) {
  return overdub::if_(
      n < 2.0, [&] { return n; }, [&] { return cx.self(n - 1.0) + cx.self(n - 2.0); });
});
[[gnu::noinline]] double fib_by_hand(long& calls, double n) {
  ++calls; // fib
  ++calls;
  bool const small = n < 2.0;
  ++calls; // if
  if (small) return n;
  ++calls;
  double const left = fib_by_hand(calls, n - 1.0);
  ++calls;
  double const right = fib_by_hand(calls, n - 2.0);
  ++calls;
  return left + right;
}

} // namespace

int main() {
  long calls = 0;
  count context;
  bench::compare<bench::allocating::forbidden>(
      "100,000,000 calls, in a loop", //
      bench::way{"by hand, ++calls", 0, [&] { return iterate_by_hand(calls); }},
      bench::way{"under count", 1.05, [&] { return iterate(context); }});
  bench::compare<bench::allocating::forbidden>(
      "134,373,162 calls, of fib(35)", //
      bench::way{"by hand, ++calls", 0, [&] { return fib_by_hand(calls, bench::opaque(35.0)); }},
      bench::way{"under count", 1.05, [&] { return overdub::run(context, fib, bench::opaque(35.0)); }});

  calls = context.calls = 0;
  bench::use(fib_by_hand(calls, 35.0));
  bench::use(overdub::run(context, fib, 35.0));
  std::printf("  counted: %ld and %ld calls\n", calls, context.calls);
  return calls != context.calls;
}
