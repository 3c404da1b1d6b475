// The operations on plain numbers whose C++ operators have undefined behaviour: integers wrap, divisors are tested, conversions saturate,
// and functions of <cmath> write no global state.
#pragma once

#include <overdub/call/zero.hpp>
#include <overdub/core/error.hpp>
#include <overdub/core/floating_point.hpp>

#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace overdub {

/// Digamma and polygamma on plain numbers; <overdub/special.hpp> defines them by Boost.Math.
template <class T>
struct special_functions {
  static constexpr bool provided = false;
};

namespace native {

template <class... T>
concept integers = (std::integral<T> && ...);

// Integer arithmetic in the type that C++ would use, which wraps on overflow.
template <class R, class F, class X, class Y>
constexpr R wrapping(F f, X x, Y y) {
  using U = std::make_unsigned_t<R>;
  return static_cast<R>(f(static_cast<U>(static_cast<R>(x)), static_cast<U>(static_cast<R>(y))));
}

template <class X>
constexpr auto neg(X x) {
  if constexpr (integers<X>)
    return wrapping<decltype(-x)>([](auto a, auto b) { return a - b; }, 0, x);
  else
    return -x;
}
template <class X, class Y>
constexpr auto add(X x, Y y) {
  if constexpr (integers<X, Y>)
    return wrapping<decltype(x + y)>([](auto a, auto b) { return a + b; }, x, y);
  else
    return x + y;
}
template <class X, class Y>
constexpr auto sub(X x, Y y) {
  if constexpr (integers<X, Y>)
    return wrapping<decltype(x - y)>([](auto a, auto b) { return a - b; }, x, y);
  else
    return x - y;
}
template <class X, class Y>
constexpr auto mul(X x, Y y) {
  if constexpr (integers<X, Y>)
    return wrapping<decltype(x * y)>([](auto a, auto b) { return a * b; }, x, y);
  else
    return x * y;
}
template <class X, class Y>
constexpr auto div(X x, Y y) {
  if constexpr (integers<X, Y>) {
    using R = decltype(x / y);
    if (y == 0) detail::throw_division();
    if constexpr (std::signed_integral<R>)
      if (static_cast<R>(y) == R{-1}) return neg(static_cast<R>(x));
    return static_cast<R>(x / y);
  } else
    return x / y;
}
// A product and a quotient that are 0 if x is 0, whatever y is.
template <class X, class Y>
constexpr auto strong_mul(X x, Y y) {
  auto const product = mul(x, y);
  return x == 0 ? decltype(x * y){0} : product;
}
template <class X, class Y>
constexpr auto strong_div(X x, Y y) {
  if constexpr (integers<X, Y>) // programs have only the floating-point form
    return x == 0 ? decltype(x / y){0} : div(x, y);
  else {
    auto const quotient = x / y;
    return x == 0 ? decltype(x / y){0} : quotient;
  }
}
template <class X, class Y>
requires integers<X, Y>
constexpr auto rem(X x, Y y) {
  using R = decltype(x % y);
  if (y == 0) detail::throw_division();
  if constexpr (std::signed_integral<R>)
    if (static_cast<R>(y) == R{-1}) return R{0};
  return static_cast<R>(x % y);
}
template <class X>
constexpr auto abs(X x) {
  if constexpr (integers<X>)
    return x < X{} ? neg(x) : static_cast<decltype(neg(x))>(x);
  else
    return std::abs(x);
}

template <class X, class Y>
requires integers<X, Y>
constexpr auto shift_left(X x, Y y) {
  using R = decltype(x << y);
  using U = std::make_unsigned_t<R>;
  return static_cast<R>(static_cast<U>(x) << (static_cast<U>(y) % std::numeric_limits<U>::digits));
}
template <class X, class Y>
requires integers<X, Y>
constexpr auto shift_right(X x, Y y) {
  using R = decltype(x >> y);
  using U = std::make_unsigned_t<R>;
  return static_cast<R>(static_cast<R>(x) >> (static_cast<U>(y) % std::numeric_limits<U>::digits));
}

template <class X>
constexpr bool isnan(X x) {
  if constexpr (std::floating_point<X>)
    return overdub::is_nan(x);
  else
    return false;
}
template <class X>
constexpr bool isinf(X x) {
  if constexpr (std::floating_point<X>)
    return overdub::is_infinite(x);
  else
    return false;
}
template <class X>
constexpr bool isfinite(X x) {
  if constexpr (std::floating_point<X>)
    return overdub::is_finite(x);
  else
    return true;
}
template <class X>
constexpr bool signbit(X x) {
  if constexpr (std::floating_point<X>)
    return std::signbit(x);
  else
    return x < X{};
}

// For zeros of different sign the C++ standard allows either, and compilers differ; overdub returns the first.
template <class X, class Y>
auto fmin(X x, Y y) {
  using R = decltype(std::fmin(x, y));
  auto const a = static_cast<R>(x), b = static_cast<R>(y);
  return isnan(b) || a <= b ? a : b;
}
template <class X, class Y>
auto fmax(X x, Y y) {
  using R = decltype(std::fmax(x, y));
  auto const a = static_cast<R>(x), b = static_cast<R>(y);
  return isnan(b) || a >= b ? a : b;
}

template <class C, class X, class Y>
constexpr auto select(C c, X const& x, Y const& y) {
  if constexpr (std::is_same_v<X, Y>)
    return c ? x : y;
  else if constexpr (std::is_same_v<X, zero>)
    return c ? Y{} : y;
  else if constexpr (std::is_same_v<Y, zero>)
    return c ? x : X{};
  else {
    using R = std::common_type_t<X, Y>;
    return c ? static_cast<R>(x) : static_cast<R>(y);
  }
}

// Saturates if the target type cannot represent the number; NaN becomes 0.
template <class To, class From>
constexpr To convert(From x) {
  if constexpr (std::is_same_v<To, bool>)
    return x != From{};
  else if constexpr (std::integral<To> && std::floating_point<From>) {
    constexpr From low = static_cast<From>(std::numeric_limits<To>::min());
    constexpr From high = static_cast<From>(std::numeric_limits<To>::max() / 2 + 1) * From{2};
    if (is_nan(x)) return To{};
    if (x < low) return std::numeric_limits<To>::min();
    if (x >= high) return std::numeric_limits<To>::max();
    return static_cast<To>(x);
  } else if constexpr (std::integral<To> && std::integral<From> && !std::is_same_v<From, bool>) {
    constexpr To low = std::numeric_limits<To>::min();
    constexpr To high = std::numeric_limits<To>::max();
    if constexpr (std::signed_integral<From>)
      if (x < 0)
        return std::unsigned_integral<To> || x < static_cast<std::intmax_t>(low) ? low : static_cast<To>(x);
    return static_cast<std::uintmax_t>(x) > static_cast<std::uintmax_t>(high) ? high : static_cast<To>(x);
  } else
    return static_cast<To>(x);
}

// If the power of two is a normal number, the product with it equals ldexp: both round once.
template <class X, class N>
auto ldexp(X x, N n) {
  int const e = convert<int>(n);
  if constexpr (std::same_as<X, double>) {
    if (-1022 <= e && e <= 1023) return x * std::bit_cast<double>(static_cast<std::uint64_t>(e + 1023) << 52);
  } else if constexpr (std::same_as<X, float>) {
    if (-126 <= e && e <= 127) return x * std::bit_cast<float>(static_cast<std::uint32_t>(e + 127) << 23);
  }
  return std::ldexp(x, e);
}

// std::lgamma writes the global `signgam`.
inline double lgamma(double x) {
  int sign = 0;
  return ::lgamma_r(x, &sign);
}
inline float lgamma(float x) {
  int sign = 0;
  return ::lgammaf_r(x, &sign);
}
template <std::integral X>
double lgamma(X x) {
  return lgamma(static_cast<double>(x));
}

template <class X>
auto digamma(X x) {
  static_assert(
      special_functions<X>::provided,
      "overdub: digamma and polygamma (the derivatives of lgamma and tgamma) are computed with Boost.Math; "
      "#include <overdub/special.hpp> before they are used");
  if constexpr (special_functions<X>::provided)
    return special_functions<X>::digamma(x);
  else
    return x;
}
template <class N, class X>
auto polygamma(N n, X x) {
  static_assert(
      special_functions<X>::provided,
      "overdub: digamma and polygamma (the derivatives of lgamma and tgamma) are computed with Boost.Math; "
      "#include <overdub/special.hpp> before they are used");
  if constexpr (special_functions<X>::provided)
    return special_functions<X>::polygamma(convert<int>(n), x);
  else
    return x;
}

} // namespace native
} // namespace overdub
