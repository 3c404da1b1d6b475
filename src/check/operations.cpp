#include <overdub/implementation/check/operations.hpp>

#include <algorithm>
#include <cstdint>
#include <span>

namespace overdub::checking::detail {

bools compare(ir::op code, bool may_be_less, bool may_be_equal, bool may_be_greater, bool nan) {
  using ir::op;
  auto const of = [&](bool less, bool equal, bool greater) { // whether it holds for <, == and >
    return bools{
        (may_be_less && !less) || (may_be_equal && !equal) || (may_be_greater && !greater) ||
            (nan && code != op::ne),
        (may_be_less && less) || (may_be_equal && equal) || (may_be_greater && greater) ||
            (nan && code == op::ne)};
  };
  switch (code) {
  case op::eq:
    return of(false, true, false);
  case op::ne:
    return of(true, false, true);
  case op::lt:
    return of(true, false, false);
  case op::le:
    return of(true, true, false);
  case op::gt:
    return of(false, false, true);
  default:
    return of(false, true, true);
  }
}

bools compared(ir::op code, reals const& x, reals const& y) {
  if (x.is_empty() || y.is_empty()) return {};
  bool const both = x.has_numbers() && y.has_numbers();
  bool const meets = both && meet(x, y).has_numbers();
  return compare(code, both && x.low < y.high, meets, both && x.high > y.low, x.nan || y.nan);
}

bools compared(ir::op code, integers const& x, integers const& y) {
  if (x.is_empty() || y.is_empty()) return {};
  bool const meets = std::max(x.low, y.low) <= std::min(x.high, y.high);
  return compare(
      code, !is_at_most(y, x), meets && !is_less(x, y) && !is_less(y, x), !is_at_most(x, y), false);
}

bools compared(ir::op code, bools x, bools y) {
  if (x.is_empty() || y.is_empty()) return {};
  return compare(
      code, x.may_be_false && y.may_be_true,
      (x.may_be_false && y.may_be_false) || (x.may_be_true && y.may_be_true), x.may_be_true && y.may_be_false,
      false);
}

effect_of_op on_integers(ir::op code, std::span<abstract const* const> x) {
  using ir::op;
  effect_of_op r;
  integers const& a = x[0]->element.whole;
  integers const b = x.size() > 1 ? x[1]->element.whole : integers{};
  auto const give = [&](integers const& i) {
    r.result = number::of(i);
    return r;
  };
  switch (code) {
  case op::neg:
    return give(neg(a));
  case op::abs:
    return give(magnitude(a));
  case op::add:
    return give(add(a, b));
  case op::sub:
    return give(x[0] == x[1] ? integers::only(0) : sub(a, b));
  case op::mul:
    return give(x[0] == x[1] ? mul(magnitude(a), magnitude(a)) : mul(a, b));
  case op::div:
    r.may_divide_by_zero = b.has(0);
    return give(div(a, b));
  case op::rem:
    r.may_divide_by_zero = b.has(0);
    return give(rem(a, b));
  case op::min:
    return give(minimum(a, b));
  case op::max:
    return give(maximum(a, b));
  case op::clamp: {
    integers const c = x[2]->element.whole; // if the bounds are in order
    if (!is_at_most(b, c)) return give(join(join(a, b), c));
    return give(maximum(minimum(a, c), b));
  }
  case op::bit_and:
    return give(bit_and(a, b));
  case op::bit_or:
  case op::bit_xor:
    return give(bits_of_both(a, b));
  case op::bit_not:
    return give(sub(integers::only(-1), integers::of(a.low, a.high)));
  case op::shift_left:
    return give(shift_left(a, b));
  case op::shift_right:
    return give(shift_right(a, b));
  default:
    return give(integers::any());
  }
}

bools on_bools(ir::op code, bools x, bools y) {
  switch (code) {
  case ir::op::logical_and:
    return {x.may_be_false || y.may_be_false, x.may_be_true && y.may_be_true};
  case ir::op::logical_or:
    return {x.may_be_false && y.may_be_false, x.may_be_true || y.may_be_true};
  default:
    return {x.may_be_true, x.may_be_false}; // logical_not
  }
}

} // namespace overdub::checking::detail

namespace overdub::checking {

effect_of_op compute(ir::op code, std::span<abstract const* const> x) {
  using ir::op;
  for (abstract const* const each : x)
    if (each->element.is_empty()) return {};
  effect_of_op r;
  ir::scalar const kind = x[0]->type.element;
  bool const compares = code >= op::eq && code <= op::ge;
  if (code == op::select) {
    bools const c = x[0]->element.boolean;
    if (c.may_be_true) r.result = x[1]->element;
    if (c.may_be_false) r.result = join(r.result, x[2]->element);
    return r;
  }
  if (code == op::polygamma) {
    r.result = number::of(reals::any());
    r.may_be_wrong.nan = true;
    return r;
  }
  if (kind == ir::scalar::f32) {
    if (compares)
      r.result = number::of(detail::compared(code, x[0]->element.real, x[1]->element.real));
    else
      r = detail::on_reals<float>(code, x);
  } else if (kind == ir::scalar::f64) {
    if (compares)
      r.result = number::of(detail::compared(code, x[0]->element.real, x[1]->element.real));
    else
      r = detail::on_reals<double>(code, x);
  } else if (kind == ir::scalar::i64) {
    if (compares)
      r.result = number::of(detail::compared(code, x[0]->element.whole, x[1]->element.whole));
    else
      r = detail::on_integers(code, x);
  } else {
    bools const y = x.size() > 1 ? x[1]->element.boolean : bools{};
    r.result = number::of(
        compares ? detail::compared(code, x[0]->element.boolean, y)
                 : detail::on_bools(code, x[0]->element.boolean, y));
  }
  return r;
}

number convert(abstract const& x, ir::type to) {
  using ir::scalar;
  if (x.element.is_empty()) return {};
  scalar const from = x.type.element;
  reals const& r = x.element.real;
  bool const is_real = from == scalar::f32 || from == scalar::f64;
  bools const t = x.element.boolean;
  integers const i =
      from == scalar::boolean ? integers::of(t.may_be_false ? 0 : 1, t.may_be_true ? 1 : 0) : x.element.whole;
  switch (to.element) {
  case scalar::boolean: // NaN is not 0
    if (is_real) return number::of(bools{r.has(0), r.nan || !r.is_only(0)});
    return number::of(bools{i.has(0), !i.is_only(0)});
  case scalar::i64: {
    if (!is_real) return number::of(i);
    auto const whole = [](double a) {
      return a < -0x1p63 ? integers::minimum : a >= 0x1p63 ? integers::maximum : static_cast<int64_t>(a);
    };
    integers all = r.has_numbers() ? integers::of(whole(r.low), whole(r.high)) : integers{};
    return number::of(r.nan ? join(all, integers::only(0)) : all);
  }
  case scalar::f32:
    if (!is_real) return number::of(detail::to_reals<float>(i));
    return number::of(monotone<float>([](float a) { return a; }, r).of_integers(r.whole));
  default:
    if (!is_real) return number::of(detail::to_reals<double>(i));
    return number::of(r);
  }
}

} // namespace overdub::checking
