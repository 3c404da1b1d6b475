// A function is called without a context with too few arguments.
// expect: overdub: the body of this function cannot be called with these arguments
// expect: "norm"
#include <overdub/overdub.hpp>

constexpr auto norm = overdub::fn<"norm">([](auto x, auto y) { return sqrt(x * x + y * y); });

double run(double x) {
#ifdef OVERDUB_MENDED
  return norm(x, 4.0);
#else
  return norm(x);
#endif
}
