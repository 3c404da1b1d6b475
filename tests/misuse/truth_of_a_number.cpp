// A branch on a number in a context.
// expect: overdub: a branch on a value that is no boolean; write x != 0
// expect: "inverse"
#include <overdub/overdub.hpp>

constexpr auto inverse = overdub::fn<"inverse">([](auto x) {
#ifdef OVERDUB_MENDED
  if (x != 0.0) return 1.0 / x;
#else
  if (x) return 1.0 / x;
#endif
  return x;
});

double run(double x) {
  overdub::context context;
  return overdub::run(context, inverse, x);
}
