// The tangents of the element-wise operations, from the table core/ops.def: op.tangent(r, x..., dx...) is the directional derivative
// of r = op(x...) along dx.... It is linear in dx, and `zero` if all dx are.
#pragma once

#include <overdub/call/operators.hpp>

namespace overdub {
namespace detail {

// Selects one of two tangents. `zero` is converted to the other's type; tangents that are not numbers define a function select_along.
template <class C, class A, class B>
OVERDUB_INLINE constexpr auto select_tangent(C const& c, A const& a, B const& b) {
  if constexpr (requires { select_along(c, a, b); })
    return select_along(c, a, b);
  else if constexpr (std::is_same_v<A, zero> && std::is_same_v<B, zero>)
    return zero{};
  else if constexpr (std::is_same_v<A, zero>)
    return select(c, plain_t<B>{}, b);
  else if constexpr (std::is_same_v<B, zero>)
    return select(c, a, plain_t<A>{});
  else
    return select(c, a, b);
}

// A tangent times a partial derivative, and a tangent divided by a number: 0 if the tangent is 0, even if the partial derivative is
// infinite or NaN (strong zeros). Tangents that are not numbers define functions times_each and over_each.
template <class D, class Slope>
OVERDUB_INLINE constexpr auto times(D const& tangent, [[maybe_unused]] Slope const& slope) {
  if constexpr (std::is_same_v<D, zero> || std::is_same_v<Slope, zero>)
    return zero{};
  else if constexpr (requires { times_each(tangent, slope); })
    return times_each(tangent, slope);
  else
    return strong_mul(tangent, slope);
}
template <class D, class Y>
OVERDUB_INLINE constexpr auto over(D const& tangent, [[maybe_unused]] Y const& y) {
  if constexpr (std::is_same_v<D, zero>)
    return zero{};
  else if constexpr (requires { over_each(tangent, y); })
    return over_each(tangent, y);
  else
    return strong_div(tangent, y);
}

// The partial derivative of x^y by x: y x^(y - 1). If y - 1 is rounded, its error is amplified by ln x, so that the power is computed as
// x^y / x. At 0^0 it is that of a constant. Operands of the side that a selection does not take are replaced by harmless ones, so that
// higher derivatives are finite, too.
template <class X, class Y, class R>
OVERDUB_INLINE constexpr auto pow_slope(R const& r, X const& x, Y const& y) {
  plain_t<Y> const one{1};
  auto const lower = y - one;
  auto const at_zero = x == plain_t<X>{};
  auto const is_inexact = lower + one != y || y - lower != one;
  auto const divides = is_inexact && isfinite(x) && !at_zero;
  auto const by_power = pow(x, select(at_zero && y == plain_t<Y>{}, one, lower));
  return y * select(divides, r / select(divides, x, plain_t<X>{1}), by_power);
}
template <class R, class X, class Y, class DX, class DY>
OVERDUB_INLINE constexpr auto
pow_tangent([[maybe_unused]] R const& r, X const& x, Y const& y, DX const& dx, DY const& dy) {
  auto from_base = [&] {
    if constexpr (std::is_same_v<DX, zero>)
      return zero{};
    else if constexpr (std::is_integral_v<plain_t<Y>>)
      return times(dx, pow_slope(r, x, convert<double>(y)));
    else
      return times(dx, pow_slope(r, x, y));
  };
  auto from_exponent = [&] {
    if constexpr (std::is_same_v<DY, zero>)
      return zero{};
    else {
      auto const limit = x == plain_t<X>{} && y >= plain_t<Y>{}; // the limit from above
      return times(dy, select_tangent(limit, zero{}, r * log(select(limit, plain_t<X>{1}, x))));
    }
  };
  return from_base() + from_exponent();
}

// The tangent of atan2(y, x). It divides twice, since the sum of squares may overflow or underflow.
template <class X, class Y, class DX, class DY>
OVERDUB_INLINE constexpr auto atan2_tangent(X const& x, Y const& y, DX const& dx, DY const& dy) {
  auto const r = hypot(x, y);
  return times(dx, y / r / r) - times(dy, x / r / r);
}

// 1 - x^2, accurate to a few units in the last place, and so is its derivative: near 1 the square would lose digits, and near 0 the
// derivative of the product would.
template <class X>
OVERDUB_INLINE constexpr auto one_minus_square(X const& x) {
  auto const square = x * x;
  return select(square < 0.5f, 1.0f - square, (1.0f - x) * (1.0f + x));
}

// exp(-x^2), with a correction for the rounding error of the square, which is amplified by x^2. It is 0 from 28 on; larger x are clamped,
// so that the square is finite.
template <class X>
OVERDUB_INLINE constexpr auto exp_of_minus_square(X const& x) {
  auto const z = clamp(x, -28.0f, 28.0f);
  auto const square = z * z;
  return exp(-square) * (1.0f - fma(z, z, -square));
}

// 2^y dx, in two steps, since 2^y may be out of range although the product is not.
template <class R, class Y, class DX>
OVERDUB_INLINE constexpr auto ldexp_tangent(R const&, Y const& y, DX const& dx) {
  plain_t<R> const one{1};
  auto const half = shift_right(y, 1);
  return times(times(dx, ldexp(one, y - half)), ldexp(one, half));
}

} // namespace detail

#define OVERDUB_UNARY(NAME, KIND, TYPES, EFFECT, COST, TRAITS, NATIVE, TANGENT)                              \
  template <class R, class X, class DX>                                                                      \
  OVERDUB_INLINE constexpr auto NAME##_t::tangent(                                                           \
      [[maybe_unused]] R const& r, [[maybe_unused]] X const& x, [[maybe_unused]] DX const& dx) {             \
    return TANGENT;                                                                                          \
  }
#define OVERDUB_BINARY(NAME, KIND, TYPES, EFFECT, COST, TRAITS, NATIVE, TANGENT)                             \
  template <class R, class X, class Y, class DX, class DY>                                                   \
  OVERDUB_INLINE constexpr auto NAME##_t::tangent(                                                           \
      [[maybe_unused]] R const& r, [[maybe_unused]] X const& x, [[maybe_unused]] Y const& y,                 \
      [[maybe_unused]] DX const& dx, [[maybe_unused]] DY const& dy) {                                        \
    return TANGENT;                                                                                          \
  }
#define OVERDUB_TERNARY(NAME, KIND, TYPES, EFFECT, COST, TRAITS, NATIVE, TANGENT)                            \
  template <class R, class X, class Y, class Z, class DX, class DY, class DZ>                                \
  OVERDUB_INLINE constexpr auto NAME##_t::tangent(                                                           \
      [[maybe_unused]] R const& r, [[maybe_unused]] X const& x, [[maybe_unused]] Y const& y,                 \
      [[maybe_unused]] Z const& z, [[maybe_unused]] DX const& dx, [[maybe_unused]] DY const& dy,             \
      [[maybe_unused]] DZ const& dz) {                                                                       \
    return TANGENT;                                                                                          \
  }
#include <overdub/core/ops.def>

} // namespace overdub
