// With a plain condition, one branch returns a value and the other a plain number.
// expect: overdub: the branches of if_ return different types
// expect: "ramp"
#include <overdub/overdub.hpp>

constexpr auto ramp = overdub::fn<"ramp">([](overdub::scope auto& cx, auto x, bool on) {
#ifdef OVERDUB_MENDED
  return overdub::if_(on, [&] { return x + 1.0; }, [&] { return cx.lift(0.0); });
#else
  (void)cx;
  return overdub::if_(on, [&] { return x + 1.0; }, [&] { return 0.0; });
#endif
});

struct tracer : overdub::context {
  int calls = 0;
};
constexpr auto start = overdub::fn<"start">([](overdub::scope auto& cx, auto x) { return ramp.body(cx, x, true); });

double run(double x) {
  tracer context;
  return overdub::run(context, start, x);
}
