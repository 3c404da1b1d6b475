// expect: a compiled function has no captures
#include <overdub/compile/compile.hpp>

struct plain : overdub::context {};

double run(double a) {
  plain c;
#ifdef OVERDUB_MENDED
  return overdub::compile(
      c, [](auto x, auto y) { return x * y; }, overdub::signature<double, double>)(3.0, a);
#else
  return overdub::compile(
      c, [a](auto x) { return x * a; }, overdub::signature<double>)(3.0);
#endif
}
