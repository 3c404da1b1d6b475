// A derivative inside of a derivative starts from a plain number, and uses a captured value of the outer one.
// expect: overdub: values of two unrelated runs meet in one call
// expect: "outer"
#include <overdub/contexts/forward.hpp>
#include <overdub/derivative.hpp>

using overdub::derivative;

constexpr auto outer = overdub::fn<"outer">([](overdub::scope auto& cx, auto x) {
  auto inner = [x](auto y) { return x + y; };
#ifdef OVERDUB_MENDED
  return x * derivative(inner, cx.lift(1.0));
#else
  (void)cx;
  return x * derivative(inner, 1.0);
#endif
});

double run(double x) { return derivative(outer, x); }
