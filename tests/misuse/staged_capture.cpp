// A function that captures a number is staged.
// expect: overdub: a function that is staged captures nothing, since a program is used again
#include <overdub/stage/stage.hpp>

auto program(double a) {
#ifdef OVERDUB_MENDED
  (void)a;
  auto const scaled = overdub::fn<"scaled">([](auto x, auto factor) { return factor * x; });
  return overdub::stage(scaled, overdub::signature<double, double>);
#else
  auto const scaled = overdub::fn<"scaled">([a](auto x) { return a * x; });
  return overdub::stage(scaled, overdub::signature<double>);
#endif
}
