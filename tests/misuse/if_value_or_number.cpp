// With a plain condition, one branch returns a value and the other a plain number.
// expect: overdub: the branches of if_ return different types
// expect: "ramp"
#include <overdub/overdub.hpp>

double run(double x, bool on) {
  auto ramp = overdub::fn<"ramp">([on](overdub::scope auto& cx, auto y) {
#ifdef OVERDUB_MENDED
    return overdub::if_(
        on, [&] { return y + 1.0; }, [&] { return cx.lift(0.0); });
#else
    (void)cx;
    return overdub::if_(
        on, [&] { return y + 1.0; }, [&] { return 0.0; });
#endif
  });
  overdub::context context;
  return overdub::run(context, ramp, x);
}
