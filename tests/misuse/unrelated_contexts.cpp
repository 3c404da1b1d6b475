// Values of two different contexts in one call.
// expect: overdub: values of two unrelated runs meet in one call
// expect: counter
// expect: tracer
// expect: product
#include <overdub/overdub.hpp>

struct counter : overdub::context {
  int calls = 0;
};
struct tracer : overdub::context {
  int depth = 0;
};

constexpr auto product = overdub::fn<"product">([](auto x, auto y) { return x * y; });

double run(double a) {
  counter first;
  tracer second;
#ifdef OVERDUB_MENDED
  return overdub::run(
      first,
      [&](auto x) {
        return overdub::run(
            second, [&](auto y) { return product(x, y); }, x);
      },
      a);
#else
  return overdub::run(
      first,
      [&](auto x) {
        return overdub::run(
            second, [&](auto y) { return product(x, y); }, 2.0);
      },
      a);
#endif
}
