// The abstract domain of floating-point numbers: intervals, with a flag for NaN.
//
// Bounds are of computed numbers, not of exact reals: a correctly rounded operation is monotone, so that its rounded
// results at the ends are bounds. Infinities are members. Elementary functions (elementary.hpp), whose last digits differ
// between libraries, are rounded outwards.
#pragma once

#include <overdub/core/floating_point.hpp>
#include <overdub/core/library.hpp>
#include <overdub/core/requirements.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <limits>

namespace overdub::checking {

inline constexpr double infinity = std::numeric_limits<double>::infinity();

/// The numbers of one floating-point type from low to high, both included (0 includes -0), and perhaps NaN. No numbers if
/// low > high.
struct reals {
  double low = infinity;
  double high = -infinity;
  bool nan = false;
  bool whole = false; // all finite members are integers

  static constexpr reals of(double low, double high, bool nan = false) { return {low, high, nan, false}; }
  static constexpr reals any() { return of(-infinity, infinity, true); }
  static constexpr reals only_nan() { return {infinity, -infinity, true, true}; }
  static reals only(double x) {
    if (is_nan(x)) return only_nan();
    return {x, x, false, overdub::is_infinite(x) || std::trunc(x) == x};
  }

  constexpr bool operator==(reals const&) const = default;

  constexpr bool has_numbers() const { return low <= high; }
  constexpr bool is_empty() const { return !has_numbers() && !nan; }
  constexpr bool has(double x) const { return low <= x && x <= high; }
  constexpr bool has_infinity() const { return has(infinity) || has(-infinity); }
  constexpr bool is_only(double x) const { return low == x && high == x; }
  constexpr bool contains(double x) const { return is_nan(x) ? nan : has(x) && (!whole || is_integer(x)); }

  constexpr reals with_nan(bool also) const { return {low, high, nan || also, whole}; }
  constexpr reals without_nan() const { return {low, high, false, whole}; }
  constexpr reals of_integers(bool are = true) const { return {low, high, nan, are}; }

private:
  static constexpr bool is_integer(double x) {
    if (x >= 0x1p52 || x <= -0x1p52) return true;
    return static_cast<double>(static_cast<long long>(x)) == x;
  }
};

/// The union (an upper bound of it).
reals join(reals const& x, reals const& y);
/// The intersection; NaN if both have it.
reals meet(reals x, reals const& y);
/// Whether x is a subset of y.
bool is_within(reals const& x, reals const& y);

/// Exceptional results of an operation.
struct hazards {
  bool nan = false;    // may return NaN for numbers
  bool pole = false;   // may return an infinity for finite numbers, at a pole
  bool always = false; // every operand is at the pole
};

namespace detail {
// The minimum and maximum of numbers, without NaN.
class hull {
public:
  void add(double x) {
    if (is_nan(x)) return;
    low_ = std::min(low_, x);
    high_ = std::max(high_, x);
  }
  reals bounds() const { return {low_, high_, false, false}; }

private:
  double low_ = infinity, high_ = -infinity;
};
// f at both ends, computed in T.
template <class T, class F>
double at(F const& f, double x, double y) {
  return static_cast<double>(f(static_cast<T>(x), static_cast<T>(y)));
}
template <class T, class F>
reals corners(F const& f, reals const& x, reals const& y) {
  hull all;
  for (double const a : {x.low, x.high})
    for (double const b : {y.low, y.high}) all.add(at<T>(f, a, b));
  return all.bounds();
}
} // namespace detail

/// f(x) for a monotone function that rounds correctly in T.
template <class T, class F>
reals monotone(F const& f, reals const& x) {
  if (!x.has_numbers()) return x;
  detail::hull all;
  all.add(static_cast<double>(f(static_cast<T>(x.low))));
  all.add(static_cast<double>(f(static_cast<T>(x.high))));
  return all.bounds().with_nan(x.nan);
}

inline reals negated(reals const& x) { return {-x.high, -x.low, x.nan, x.whole}; }
reals magnitude(reals const& x);

template <std::floating_point T>
reals add(reals const& x, reals const& y, hazards& h) {
  bool const nan = x.nan || y.nan;
  if (!x.has_numbers() || !y.has_numbers()) return reals{}.with_nan(nan);
  h.nan = (x.has(infinity) && y.has(-infinity)) || (x.has(-infinity) && y.has(infinity));
  auto const plus = [](T a, T b) { return a + b; };
  double low = detail::at<T>(plus, x.low, y.low), high = detail::at<T>(plus, x.high, y.high);
  if (is_nan(low) || is_nan(high)) { // infinities only, on one side at least
    if (x.low == x.high && y.low == y.high) return reals::only_nan();
    low = -infinity, high = infinity;
  }
  return {low, high, nan || h.nan, x.whole && y.whole};
}

template <std::floating_point T>
reals mul(reals const& x, reals const& y, hazards& h) {
  bool const nan = x.nan || y.nan;
  if (!x.has_numbers() || !y.has_numbers()) return reals{}.with_nan(nan);
  h.nan = (x.has(0) && y.has_infinity()) || (x.has_infinity() && y.has(0));
  auto const infinite = [](reals const& z) { return z.low == z.high && overdub::is_infinite(z.low); };
  if ((x.is_only(0) && infinite(y)) || (y.is_only(0) && infinite(x))) return reals::only_nan();
  reals product = detail::corners<T>([](T a, T b) { return a * b; }, x, y);
  if (h.nan) product = join(product, reals::only(0)); // zeros times the finite ones
  return {product.low, product.high, nan || h.nan, x.whole && y.whole};
}

/// The square of x: both factors are the same number.
template <std::floating_point T>
reals square(reals const& x) {
  return monotone<T>([](T a) { return a * a; }, magnitude(x)).of_integers(x.whole);
}

template <std::floating_point T>
reals div(reals const& x, reals const& y, hazards& h) {
  bool const nan = x.nan || y.nan;
  if (!x.has_numbers() || !y.has_numbers()) return reals{}.with_nan(nan);
  h.nan = (x.has(0) && y.has(0)) || (x.has_infinity() && y.has_infinity());
  h.pole = y.has(0) && !x.is_only(0) && !(x.low == x.high && overdub::is_infinite(x.low));
  h.always = y.is_only(0) && !x.has(0) && !x.has_infinity();
  if (y.is_only(0) && x.is_only(0)) return reals::only_nan();
  if (y.has(0)) return {-infinity, infinity, nan || h.nan, false}; // zeros of both signs
  reals quotient = detail::corners<T>([](T a, T b) { return a / b; }, x, y);
  if (y.has_infinity() && (x.low != x.high || overdub::is_finite(x.low)))
    quotient = join(quotient, reals::only(0)); // finite ones over infinities
  return {quotient.low, quotient.high, nan || h.nan, false};
}

template <std::floating_point T>
reals fma(reals const& x, reals const& y, reals const& z, hazards& h) {
  // fma rounds once, and is monotone; bounds of the rounded product matter for infinities only.
  hazards of_product;
  reals const product = mul<T>(x, y, of_product);
  bool const nan = x.nan || y.nan || z.nan;
  if (!product.has_numbers() || !z.has_numbers()) {
    h.nan = of_product.nan;
    return reals{}.with_nan(nan || h.nan);
  }
  detail::hull all;
  bool undefined = false;
  for (double const a : {x.low, x.high})
    for (double const b : {y.low, y.high})
      for (double const c : {z.low, z.high}) {
        auto const r = static_cast<double>(std::fma(static_cast<T>(a), static_cast<T>(b), static_cast<T>(c)));
        undefined = undefined || is_nan(r);
        all.add(r);
      }
  h.nan = of_product.nan || undefined || (product.has(infinity) && z.has(-infinity)) ||
          (product.has(-infinity) && z.has(infinity));
  if (undefined) return {-infinity, infinity, true, false};
  return all.bounds().with_nan(nan || h.nan);
}

template <std::floating_point T>
reals sqrt(reals const& x, hazards& h) {
  h.nan = x.has_numbers() && x.low < 0;
  reals const inside = meet(x, reals::of(0, infinity, true));
  return monotone<T>([](T a) { return std::sqrt(a); }, inside).with_nan(h.nan);
}

/// y < x ? y : x, which is x if one is NaN.
reals minimum(reals const& x, reals const& y);
/// x < y ? y : x, likewise.
inline reals maximum(reals const& x, reals const& y) { return negated(minimum(negated(x), negated(y))); }

/// fmin: the other operand if one is NaN.
reals minimum_number(reals const& x, reals const& y);
reals maximum_number(reals const& x, reals const& y);

/// The remainder of truncated division: it has the sign of x, is smaller than y, and not larger than x.
reals remainder_of(reals const& x, reals const& y, hazards& h);

} // namespace overdub::checking
