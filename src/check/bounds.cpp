#include <overdub/check/bounds.hpp>

#include <limits>

namespace overdub::checking {

void check_order(bool ordered) {
  if (!ordered)
    throw argument_error(
        message("overdub: between: the lower bound is above the upper bound, or one of them is NaN"));
}

abstract finite(ir::type t) {
  abstract x = anything(t);
  if (t.element == ir::scalar::f64)
    x.element.real = reals::of(-std::numeric_limits<double>::max(), std::numeric_limits<double>::max());
  if (t.element == ir::scalar::f32)
    x.element.real = reals::of(-std::numeric_limits<float>::max(), std::numeric_limits<float>::max());
  return x;
}

} // namespace overdub::checking
