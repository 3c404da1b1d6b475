// A context that counts calls, a million in each of 400 rounds, against a counter that is written into the program by hand.
#include "ratio.hpp"

#include <overdub/overdub.hpp>

namespace {

struct count : overdub::context {
  long calls = 0;
  void before(overdub::callee auto, auto const&...) { ++calls; }
};

// Steps of a recurrence. Each has 3 calls: of mul, of sub and of the function itself.
constexpr long steps = 333'333;

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

// A call of fib counts as 8 calls when it recurses, and as 3 when it does not.
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

// The same, with each call counted by the caller, where the hook `before` counts it.
[[gnu::noinline]] double fib_counted_outside(long& calls, double n) {
  ++calls;
  bool const small = n < 2.0;
  ++calls;
  if (small) return n;
  calls += 2;
  double const left = fib_counted_outside(calls, n - 1.0);
  calls += 2;
  double const right = fib_counted_outside(calls, n - 2.0);
  ++calls;
  return left + right;
}

} // namespace

int main() {
  long calls = 0;
  count context;
  bench::compare<bench::allocating::forbidden>(
      "a million calls, in a loop", //
      bench::way{"by hand, ++calls", 0, [&] { return iterate_by_hand(calls); }},
      bench::way{"under count", 1.05, [&] { return iterate(context); }});
  bench::compare<bench::allocating::forbidden>(
      "the calls of fib(25)", //
      bench::way{"by hand, ++calls", 0, [&] { return fib_by_hand(calls, bench::opaque(25.0)); }},
      bench::way{"under count", 1.05, [&] { return overdub::run(context, fib, bench::opaque(25.0)); }},
      bench::way{"by hand, ++calls by the caller", 0, [&] {
                   return ++calls, fib_counted_outside(calls, bench::opaque(25.0));
                 }});

  calls = context.calls = 0;
  bench::use(fib_by_hand(calls, 25.0));
  bench::use(overdub::run(context, fib, 25.0));
  std::printf("  counted: %ld and %ld calls\n", calls, context.calls);
  return calls != context.calls;
}
