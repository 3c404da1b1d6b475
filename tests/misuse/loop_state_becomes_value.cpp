// A loop's state starts as a plain number and becomes a value.
// expect: overdub: the body of this loop returns another type than the state it was given
// expect: "power"
#include <overdub/overdub.hpp>

constexpr auto power = overdub::fn<"power">([](overdub::scope auto& cx, auto x) {
#ifdef OVERDUB_MENDED
  return cx(overdub::loop, 3, 1.0, [&](auto, auto p) { return p * x; });
#else
  (void)cx;
  return overdub::loop(3, 1.0, [&](auto, auto p) { return p * x; });
#endif
});

double run(double x) {
  overdub::context context;
  return overdub::run(context, power, x);
}
