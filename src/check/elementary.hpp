// Bounds of elementary functions, on their monotone pieces. Values at the ends are computed here, and rounded outwards by
// 16 units in the last place. This exceeds the error of supported libraries (at most 4, of glibc and SLEEF, on the
// functions bounded here), and deviations from monotonicity.
#pragma once

#include <overdub/check/reals.hpp>
#include <overdub/core/floating_point.hpp>

#include <cmath>
#include <concepts>
#include <limits>

namespace overdub::checking {

inline constexpr int slack = 16; // in units in the last place

namespace detail {
// Rounds outwards by the slack, in T, but not across 0: the sign is exact.
template <class T>
double outwards(double x, double towards) {
  auto r = static_cast<T>(x);
  if (r == 0 || overdub::is_infinite(r)) return x;
  for (int i = 0; i < slack && r != 0; ++i) r = std::nextafter(r, static_cast<T>(towards));
  return static_cast<double>(r);
}
// Another library may return the largest number for an overflow, and the smallest for an underflow.
template <class T>
reals widened(reals r) {
  if (!r.has_numbers()) return r;
  auto const largest = static_cast<double>(std::numeric_limits<T>::max());
  auto const tiny = slack * static_cast<double>(std::numeric_limits<T>::denorm_min());
  r.low = r.low == infinity ? outwards<T>(largest, 0) : outwards<T>(r.low, -infinity);
  r.high = r.high == -infinity ? outwards<T>(-largest, 0) : outwards<T>(r.high, infinity);
  if (r.low > 0 && r.low <= tiny) r.low = 0;
  if (r.high < 0 && r.high >= -tiny) r.high = 0;
  r.whole = false;
  return r;
}
template <class T, class F>
reals rounded_outwards(F const& f, reals const& x) {
  return widened<T>(monotone<T>(f, x));
}
// The same for a function without zeros: 0 is an underflow.
template <class T, class F>
reals positive(F const& f, reals const& x) {
  reals r = rounded_outwards<T>(f, x);
  if (r.high == 0) r.high = slack * static_cast<double>(std::numeric_limits<T>::denorm_min());
  return r;
}
reals clipped(reals r, double low, double high);
} // namespace detail

// Each function takes the set of the operand, and reports hazards.

template <std::floating_point T>
reals exponential(reals const& x, T (*f)(T)) {
  return detail::positive<T>(f, x);
}

/// Logarithms: NaN below the domain, whose lower end is a pole.
template <std::floating_point T>
reals logarithm(reals const& x, T (*f)(T), double pole, hazards& h) {
  h.nan = x.has_numbers() && x.low < pole;
  h.pole = x.has(pole);
  h.always = x.is_only(pole);
  return detail::rounded_outwards<T>(f, meet(x, reals::of(pole, infinity, true))).with_nan(x.nan || h.nan);
}

/// asin, acos, acosh, atanh: NaN outside of [low, high].
template <std::floating_point T>
reals inside(reals const& x, T (*f)(T), double low, double high, hazards& h) {
  h.nan = x.has_numbers() && (x.low < low || x.high > high);
  return detail::rounded_outwards<T>(f, meet(x, reals::of(low, high, true))).with_nan(x.nan || h.nan);
}

/// sin, cos: monotone between extrema; NaN for infinities.
template <std::floating_point T>
reals wave(reals const& x, T (*f)(T), double from, double to, hazards& h) {
  h.nan = x.has_infinity();
  reals const numbers =
      meet(x, reals::of(-std::numeric_limits<double>::max(), std::numeric_limits<double>::max()));
  if (!numbers.has_numbers()) return reals{}.with_nan(x.nan || h.nan);
  bool const is_piece = numbers.low >= from && numbers.high <= to;
  reals const r = is_piece ? detail::rounded_outwards<T>(f, numbers) : reals::of(-1, 1);
  return detail::clipped(r, -1, 1).with_nan(x.nan || h.nan);
}
template <std::floating_point T>
reals cosine(reals const& x, hazards& h) {
  // Even: on the magnitude, up to 3.14.
  return wave<T>(
      magnitude(x), [](T a) { return std::cos(a); }, 0, 3.14, h);
}
template <std::floating_point T>
reals tangent(reals const& x, hazards& h) {
  h.nan = x.has_infinity();
  if (!x.has_numbers() || (x.low == x.high && overdub::is_infinite(x.low)))
    return reals{}.with_nan(x.nan || h.nan);
  reals const r = x.low > -1.57 && x.high < 1.57
                      ? detail::rounded_outwards<T>([](T a) { return std::tan(a); }, x)
                      : reals::of(-infinity, infinity);
  return r.with_nan(x.nan || h.nan);
}

template <std::floating_point T>
reals power(reals const& x, reals const& y, hazards& h) {
  // pow(1, NaN) and pow(NaN, 0) are 1.
  bool const nan = (x.nan && !y.is_only(0)) || (y.nan && !x.is_only(1));
  reals r;
  if (x.nan && (y.has(0) || y.nan)) r = reals::only(1);
  if (y.nan && (x.has(1) || x.nan)) r = reals::only(1);
  if (!x.has_numbers() || !y.has_numbers()) return r.with_nan(nan);
  auto const pow = [](T a, T b) { return std::pow(a, b); };
  reals const base = magnitude(x);
  reals size = detail::corners<T>(pow, base, y);
  if (base.has(1) || y.has(0)) size = join(size, reals::only(1));
  size = detail::widened<T>(size);
  size.low = std::max(
      0.0, size.low <= slack * static_cast<double>(std::numeric_limits<T>::denorm_min()) ? 0 : size.low);
  size.high = std::max(size.high, slack * static_cast<double>(std::numeric_limits<T>::denorm_min()));
  h.pole = x.has(0) && y.low < 0;
  h.always = x.is_only(0) && y.high < 0 && !y.has_infinity();
  bool const even = y.low == y.high && std::fmod(y.low, 2) == 0;
  if (x.low < 0 || (x.has(0) && y.low < 0)) { // zeros of both signs
    h.nan = x.low < 0 && !y.whole && x.low != -infinity;
    if (x.low == -infinity && x.high != -infinity && !y.whole) h.nan = true;
    bool const is_root = y.low == y.high && overdub::is_finite(y.low) && std::trunc(y.low) != y.low;
    if (x.high < 0 && x.low != -infinity && is_root) return r.with_nan(true);
    if (!even) size = join(size, negated(size));
  }
  return join(r, size).with_nan(nan || h.nan);
}

/// tgamma and lgamma, on their increasing branch; NaN and poles at 0 and below.
template <std::floating_point T>
reals gamma(reals const& x, bool logarithm, hazards& h) {
  if (!x.has_numbers()) return x;
  if (x.low <= 0) {
    h.pole = true;
    h.always = x.is_only(0);
    h.nan = !logarithm && x.low < 0;
    return reals::of(-infinity, infinity, x.nan || h.nan);
  }
  return reals::of(
      logarithm ? -0.122 : 0.885, infinity, x.nan); // the minimum, at 1.4616, is -0.1215, or 0.8856
}

} // namespace overdub::checking
