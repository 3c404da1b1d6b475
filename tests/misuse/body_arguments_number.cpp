// A function is called with more arguments than its body takes.
// expect: overdub: the body of this function cannot be called with these arguments
// expect: "norm"
#include <overdub/overdub.hpp>

constexpr auto norm = overdub::fn<"norm">([](auto x, auto y) { return sqrt(x * x + y * y); });

double run(double x) {
  overdub::context context;
#ifdef OVERDUB_MENDED
  return overdub::run(context, norm, x, 4.0);
#else
  return overdub::run(context, norm, x, 4.0, 5.0);
#endif
}
