// A function object with a captured value of the outer derivative is an argument of the inner one, which starts from a
// plain number.
// expect: overdub: values of two unrelated runs meet in one call
#include <overdub/contexts/forward.hpp>
#include <overdub/derivative.hpp>

using overdub::contexts::forward;

auto const apply = [](auto const& f, auto y) { return f(y); };
auto const outer = [](overdub::scope auto& cx, auto x) {
  auto captured = [x](auto y) { return x + y; };
#ifdef OVERDUB_MENDED
  return x * overdub::run(forward{}, cx, apply, captured, overdub::tag(1.0, 1.0)).metadata;
#else
  (void)cx;
  return x * overdub::run(forward{}, apply, captured, overdub::tag(1.0, 1.0)).metadata;
#endif
};

double run(double x) { return overdub::derivative(outer, x); }
