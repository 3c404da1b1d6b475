// Transfer functions of element-wise operations.
#pragma once

#include <overdub/check/values.hpp>
#include <overdub/core/floating_point.hpp>
#include <overdub/implementation/check/real_operations.hpp>

#include <span>

namespace overdub::checking {

/// The result set of an operation, and its hazards.
struct effect_of_op {
  number result;
  hazards may_be_wrong{};
  bool may_divide_by_zero = false; // integer division
};

namespace detail {

bools compare(ir::op code, bool may_be_less, bool may_be_equal, bool may_be_greater, bool nan);
bools compared(ir::op code, reals const& x, reals const& y);
bools compared(ir::op code, integers const& x, integers const& y);
bools compared(ir::op code, bools x, bools y);

template <class T>
effect_of_op on_reals(ir::op code, std::span<abstract const* const> x) {
  using ir::op;
  effect_of_op r;
  hazards& h = r.may_be_wrong;
  reals const& a = x[0]->element.real;
  switch (code) {
  case op::isnan:
    r.result = number::of(bools{a.has_numbers(), a.nan});
    return r;
  case op::isinf:
    r.result = number::of(
        bools{a.nan || a.low < a.high || (a.has_numbers() && overdub::is_finite(a.low)), a.has_infinity()});
    return r;
  case op::isfinite:
    r.result = number::of(
        bools{a.nan || a.has_infinity(), a.low < a.high || (a.has_numbers() && overdub::is_finite(a.low))});
    return r;
  case op::signbit:
    r.result = number::of(bools{a.nan || a.high >= 0, a.nan || a.low <= 0});
    if (a.is_empty()) r.result = {};
    return r;
  case op::clamp:
    r.result = number::of(clamped(a, x[1]->element.real, x[2]->element.real));
    return r;
  case op::fma:
    r.result = number::of(checking::fma<T>(a, x[1]->element.real, x[2]->element.real, h));
    return r;
  case op::lerp:
    r.result = number::of(linear<T>(a, x[1]->element.real, x[2]->element.real, h));
    return r;
  case op::ldexp:
    r.result = number::of(ldexp<T>(a, x[1]->element.whole));
    return r;
  case op::mul:
    if (x[0] == x[1]) {
      r.result = number::of(square<T>(a));
      return r;
    }
    break;
  default:
    break;
  }
  if (x.size() == 2)
    r.result = number::of(binary<T>(code, a, x[1]->element.real, h));
  else
    r.result = number::of(unary<T>(code, a, h));
  return r;
}

effect_of_op on_integers(ir::op code, std::span<abstract const* const> x);

bools on_bools(ir::op code, bools x, bools y);

template <class To>
reals to_reals(integers const& x) {
  if (x.is_empty()) return {};
  return reals::of(static_cast<double>(static_cast<To>(x.low)), static_cast<double>(static_cast<To>(x.high)))
      .of_integers();
}

} // namespace detail

/// The result of an element-wise operation. Operands by equal pointers are the same number.
effect_of_op compute(ir::op code, std::span<abstract const* const> x);

/// The result of a conversion to another type.
number convert(abstract const& x, ir::type to);

} // namespace overdub::checking
