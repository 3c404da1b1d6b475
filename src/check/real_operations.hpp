// Transfer functions of floating-point operations on intervals.
#pragma once

#include <overdub/check/values.hpp>
#include <overdub/implementation/check/elementary.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace overdub::checking::detail {

// x < y ? y : (z < x ? z : x)
reals clamped(reals const& x, reals const& y, reals const& z);

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
  case op::strong_mul:
  case op::strong_div: {
    if (x.is_only(0) && !x.nan) return reals::only(0);
    reals const r = code == op::strong_mul ? checking::mul<T>(x, y, h) : checking::div<T>(x, y, h);
    return x.has(0) ? join(r, reals::only(0)) : r;
  }
  case op::min:
    return minimum(x, y);
  case op::max:
    return maximum(x, y);
  case op::fmin:
    return minimum_number(x, y);
  case op::fmax:
    return maximum_number(x, y);
  case op::pow:
    return power<T>(x, y, h);
  case op::hypot: { // infinite if one operand is, even if the other is NaN
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
    hazards difference; // ignored: fdim of equal infinities is 0
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
  default: // unknown
    h.nan = true;
    return reals::any();
  }
}

template <class T>
reals linear(reals const& x, reals const& y, reals const& z, hazards& h) {
  bool const nan = x.nan || y.nan || z.nan;
  h.nan = std::max({magnitude(x).high, magnitude(y).high, magnitude(z).high}) > 1e15; // products may overflow
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

} // namespace overdub::checking::detail
