// Calls of an instrumented function, against one that is not: 100 calls, which are not inlined.
#include "ratio.hpp"

#include <overdub/contexts/trace.hpp>

#define OVERDUB_BENCH_PLAIN [[gnu::noinline, gnu::no_instrument_function]]

namespace {

constexpr int calls = 100;

OVERDUB_BENCH_PLAIN double grow(double x) {
  asm volatile("");
  return x * 1.0001;
}
[[gnu::noinline]] double grow_instrumented(double x) {
  asm volatile("");
  return x * 1.0001;
}

OVERDUB_BENCH_PLAIN double plainly() {
  double x = bench::opaque(1.0);
  for (int i = 0; i < calls; ++i) x = grow(x);
  return x;
}
OVERDUB_BENCH_PLAIN double instrumented() {
  double x = bench::opaque(1.0);
  for (int i = 0; i < calls; ++i) x = grow_instrumented(x);
  return x;
}

} // namespace

int main() {
  bench::compare(
      "100 calls of a function, without a recording", //
      bench::way{"plain", 0, plainly},                //
      bench::way{"instrumented", 0, instrumented});
  overdub::contexts::recording const recording;
  bench::compare(
      "100 calls of a function, while a recording is active", //
      bench::way{"plain", 0, plainly},                        //
      bench::way{"instrumented", 0, instrumented});
}
