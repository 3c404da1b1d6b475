// What each elementwise operation gives, of what its operands may be.
#pragma once

#include <overdub/contexts/check/elementary.hpp>
#include <overdub/contexts/check/values.hpp>

#include <cmath>
#include <limits>
#include <span>

namespace overdub::contexts::checking {

/// What an operation gives, and what may be wrong with it.
struct effect_of_op {
  number result;
  hazards may_be_wrong{};
  bool may_divide_by_zero = false; // an integer
};

namespace detail {

inline truths compare(ir::op code, bool may_be_less, bool may_be_equal, bool may_be_greater, bool nan) {
  using ir::op;
  auto const of = [&](bool less, bool equal, bool greater) { // for which it holds
    return truths{
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
inline truths compared(ir::op code, reals const& x, reals const& y) {
  if (x.is_empty() || y.is_empty()) return {};
  bool const both = x.has_numbers() && y.has_numbers();
  bool const meets = both && meet(x, y).has_numbers();
  return compare(code, both && x.low < y.high, meets, both && x.high > y.low, x.nan || y.nan);
}
inline truths compared(ir::op code, integers const& x, integers const& y) {
  if (x.is_empty() || y.is_empty()) return {};
  bool const meets = std::max(x.low, y.low) <= std::min(x.high, y.high);
  return compare(
      code, !is_at_most(y, x), meets && !is_less(x, y) && !is_less(y, x), !is_at_most(x, y), false);
}
inline truths compared(ir::op code, truths x, truths y) {
  if (x.is_empty() || y.is_empty()) return {};
  return compare(
      code, x.may_be_false && y.may_be_true,
      (x.may_be_false && y.may_be_false) || (x.may_be_true && y.may_be_true), x.may_be_true && y.may_be_false,
      false);
}

// x < y ? y : (z < x ? z : x)
inline reals clamped(reals const& x, reals const& y, reals const& z) {
  if (x.is_empty() || y.is_empty() || z.is_empty()) return {};
  reals r{};
  if (x.has_numbers() && y.has_numbers() && x.low < y.high) r = join(r, meet(y, reals::of(x.low, infinity)));
  // What is not below y is at least y, or one of both is NaN.
  reals rest = x.nan || y.nan ? x : meet(x, reals::of(y.low, infinity, true));
  if (rest.is_empty()) return r;
  if (rest.has_numbers() && z.has_numbers() && z.low < rest.high)
    r = join(r, meet(z, reals::of(-infinity, rest.high)));
  if (!z.nan && !rest.nan) rest = meet(rest, reals::of(-infinity, z.high));
  return join(r, rest);
}

template <class T>
reals unary(ir::op code, reals const& x, hazards& h) {
  using ir::op;
  auto const grows = [&](T (*f)(T)) { return rounded_outwards<T>(f, x); };
  auto const rounds = [&](T (*f)(T)) { return monotone<T>(f, x).of_integers(); };
  switch (code) {
  case op::neg:
    return negated(x);
  case op::abs:
    return magnitude(x);
  case op::sqrt:
    return checking::sqrt<T>(x, h).with_nan(x.nan);
  case op::cbrt:
    return grows([](T a) { return std::cbrt(a); });
  case op::exp:
    return exponential<T>(x, [](T a) { return std::exp(a); });
  case op::exp2:
    return exponential<T>(x, [](T a) { return std::exp2(a); });
  case op::expm1:
    return clipped(grows([](T a) { return std::expm1(a); }), -1, infinity);
  case op::log:
    return logarithm<T>(
        x, [](T a) { return std::log(a); }, 0, h);
  case op::log2:
    return logarithm<T>(
        x, [](T a) { return std::log2(a); }, 0, h);
  case op::log10:
    return logarithm<T>(
        x, [](T a) { return std::log10(a); }, 0, h);
  case op::log1p:
    return logarithm<T>(
        x, [](T a) { return std::log1p(a); }, -1, h);
  case op::sin:
    return wave<T>(
        x, [](T a) { return std::sin(a); }, -1.57, 1.57, h);
  case op::cos:
    return cosine<T>(x, h);
  case op::tan:
    return tangent<T>(x, h);
  case op::asin:
    return inside<T>(
        x, [](T a) { return std::asin(a); }, -1, 1, h);
  case op::acos:
    return clipped(
        inside<T>(
            x, [](T a) { return std::acos(a); }, -1, 1, h),
        0, 3.15);
  case op::atan:
    return grows([](T a) { return std::atan(a); });
  case op::sinh:
    return grows([](T a) { return std::sinh(a); });
  case op::cosh:
    return clipped(rounded_outwards<T>([](T a) { return std::cosh(a); }, magnitude(x)), 1, infinity);
  case op::tanh:
    return clipped(grows([](T a) { return std::tanh(a); }), -1, 1);
  case op::asinh:
    return grows([](T a) { return std::asinh(a); });
  case op::acosh:
    return inside<T>(
        x, [](T a) { return std::acosh(a); }, 1, infinity, h);
  case op::atanh:
    h.pole = x.has(1) || x.has(-1);
    h.always = x.is_only(1) || x.is_only(-1);
    return inside<T>(
        x, [](T a) { return std::atanh(a); }, -1, 1, h);
  case op::erf:
    return clipped(grows([](T a) { return std::erf(a); }), -1, 1);
  case op::erfc:
    return clipped(exponential<T>(x, [](T a) { return std::erfc(a); }), 0, 2);
  case op::tgamma:
    return gamma<T>(x, false, h);
  case op::lgamma:
    return gamma<T>(x, true, h);
  case op::floor:
    return rounds([](T a) { return std::floor(a); });
  case op::ceil:
    return rounds([](T a) { return std::ceil(a); });
  case op::trunc:
    return rounds([](T a) { return std::trunc(a); });
  case op::round:
    return rounds([](T a) { return std::round(a); });
  case op::nearbyint:
  case op::rint:
    return rounds([](T a) { return std::nearbyint(a); });
  case op::logb:
    h.pole = x.has(0);
    h.always = x.is_only(0);
    return monotone<T>([](T a) { return std::logb(a); }, magnitude(x)).of_integers();
  default: // digamma
    h.nan = !x.has_numbers() || x.low <= 0;
    return reals::any();
  }
}

template <class T>
reals binary(ir::op code, reals const& x, reals const& y, hazards& h) {
  using ir::op;
  switch (code) {
  case op::add:
    return checking::add<T>(x, y, h);
  case op::sub:
    return checking::add<T>(x, negated(y), h);
  case op::mul:
    return checking::mul<T>(x, y, h);
  case op::div:
    return checking::div<T>(x, y, h);
  case op::min:
    return least(x, y);
  case op::max:
    return greatest(x, y);
  case op::fmin:
    return least_number(x, y);
  case op::fmax:
    return greatest_number(x, y);
  case op::pow:
    return power<T>(x, y, h);
  case op::hypot: { // infinite where one is, even if the other is NaN
    reals const r = widened<T>(corners<T>(
        [](T a, T b) { return std::hypot(a, b); }, magnitude(x.without_nan()), magnitude(y.without_nan())));
    bool const nan = x.nan || y.nan;
    reals const infinite = nan && (x.has_infinity() || y.has_infinity()) ? reals::only(infinity) : reals{};
    return join(x.has_numbers() && y.has_numbers() ? r : reals{}, infinite).with_nan(nan);
  }
  case op::atan2: {
    reals const r = x.has_numbers() && y.has_numbers() ? reals::of(-3.15, 3.15) : reals{};
    return r.with_nan(x.nan || y.nan);
  }
  case op::fmod:
    return remainder_of(x, y, h);
  case op::remainder: {
    reals const r = remainder_of(x, y, h);
    return join(r, negated(r));
  }
  case op::fdim: {
    hazards difference; // of equal infinities it is 0
    reals const r = checking::add<T>(x, negated(y), difference);
    if (!x.has_numbers() || !y.has_numbers()) return reals{}.with_nan(x.nan || y.nan);
    if (!r.has_numbers()) return reals::only(0).with_nan(x.nan || y.nan);
    return {r.low > 0 ? r.low : 0, r.high > 0 ? r.high : 0, x.nan || y.nan, x.whole && y.whole};
  }
  case op::copysign: {
    reals const m = magnitude(x);
    if (!y.nan && y.low > 0) return m;
    if (!y.nan && y.high < 0 && y.has_numbers()) return negated(m);
    return join(m, negated(m));
  }
  case op::nextafter: {
    if (!x.has_numbers() || !y.has_numbers()) return reals{}.with_nan(x.nan || y.nan);
    auto const next = [](double a, double b) {
      return static_cast<double>(std::nextafter(static_cast<T>(a), static_cast<T>(b)));
    };
    return {next(x.low, -infinity), next(x.high, infinity), x.nan || y.nan, false};
  }
  default: // nothing is known of it
    h.nan = true;
    return reals::any();
  }
}

template <class T>
reals linear(reals const& x, reals const& y, reals const& z, hazards& h) {
  bool const nan = x.nan || y.nan || z.nan;
  h.nan =
      std::max({magnitude(x).high, magnitude(y).high, magnitude(z).high}) > 1e15; // products may be infinite
  if (nan) return reals::any(); // std::lerp of NaN may be a number
  if (h.nan || z.low < 0 || z.high > 1) return reals::of(-infinity, infinity, h.nan);
  return join(x, y).of_integers(false);
}

template <class T>
reals ldexp(reals const& x, integers const& n) {
  if (!x.has_numbers() || n.is_empty()) return x;
  hull all;
  for (double const a : {x.low, x.high})
    for (int64_t const b : {n.low, n.high})
      all.add(static_cast<double>(
          std::ldexp(static_cast<T>(a), static_cast<int>(std::clamp<int64_t>(b, -5000, 5000)))));
  return all.bounds().with_nan(x.nan);
}

template <class T>
effect_of_op on_reals(ir::op code, std::span<abstract const* const> x) {
  using ir::op;
  effect_of_op r;
  hazards& h = r.may_be_wrong;
  reals const& a = x[0]->element.real;
  switch (code) {
  case op::isnan:
    r.result = number::of(truths{a.has_numbers(), a.nan});
    return r;
  case op::isinf:
    r.result = number::of(
        truths{a.nan || a.low < a.high || (a.has_numbers() && std::isfinite(a.low)), a.has_infinity()});
    return r;
  case op::isfinite:
    r.result = number::of(
        truths{a.nan || a.has_infinity(), a.low < a.high || (a.has_numbers() && std::isfinite(a.low))});
    return r;
  case op::signbit:
    r.result = number::of(truths{a.nan || a.high >= 0, a.nan || a.low <= 0});
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

inline effect_of_op on_integers(ir::op code, std::span<abstract const* const> x) {
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
    return give(least(a, b));
  case op::max:
    return give(greatest(a, b));
  case op::clamp: {
    integers const c = x[2]->element.whole; // where the bounds are in order
    if (!is_at_most(b, c)) return give(join(join(a, b), c));
    return give(greatest(least(a, c), b));
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

inline truths on_truths(ir::op code, truths x, truths y) {
  switch (code) {
  case ir::op::logical_and:
    return {x.may_be_false || y.may_be_false, x.may_be_true && y.may_be_true};
  case ir::op::logical_or:
    return {x.may_be_false && y.may_be_false, x.may_be_true || y.may_be_true};
  default:
    return {x.may_be_true, x.may_be_false}; // logical_not
  }
}

template <class To>
reals to_reals(integers const& x) {
  if (x.is_empty()) return {};
  return reals::of(static_cast<double>(static_cast<To>(x.low)), static_cast<double>(static_cast<To>(x.high)))
      .of_integers();
}

} // namespace detail

/// What an elementwise operation gives, of operands that are one thing each: the same pointer twice is the same number twice.
inline effect_of_op compute(ir::op code, std::span<abstract const* const> x) {
  using ir::op;
  for (abstract const* const each : x)
    if (each->element.is_empty()) return {};
  effect_of_op r;
  ir::scalar const kind = x[0]->type.element;
  bool const compares = code >= op::eq && code <= op::ge;
  if (code == op::select) {
    truths const c = x[0]->element.truth;
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
    truths const y = x.size() > 1 ? x[1]->element.truth : truths{};
    r.result = number::of(
        compares ? detail::compared(code, x[0]->element.truth, y)
                 : detail::on_truths(code, x[0]->element.truth, y));
  }
  return r;
}

/// What conversion gives, of a number of one type, as another.
inline number convert(abstract const& x, ir::type to) {
  using ir::scalar;
  if (x.element.is_empty()) return {};
  scalar const from = x.type.element;
  reals const& r = x.element.real;
  bool const is_real = from == scalar::f32 || from == scalar::f64;
  truths const t = x.element.truth;
  integers const i =
      from == scalar::boolean ? integers::of(t.may_be_false ? 0 : 1, t.may_be_true ? 1 : 0) : x.element.whole;
  switch (to.element) {
  case scalar::boolean: // NaN is not 0
    if (is_real) return number::of(truths{r.has(0), r.nan || !r.is_only(0)});
    return number::of(truths{i.has(0), !i.is_only(0)});
  case scalar::i64: {
    if (!is_real) return number::of(i);
    auto const whole = [](double a) {
      return a < -0x1p63 ? integers::least : a >= 0x1p63 ? integers::most : static_cast<int64_t>(a);
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

} // namespace overdub::contexts::checking
