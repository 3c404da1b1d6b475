// Floating-point arithmetic that also holds in units compiled with -ffast-math. With -ffinite-math-only, which is part of it, the compiler
// folds the tests of <cmath> for NaN and infinity to constants: the tests below read the bits instead.
#pragma once

#include <overdub/core/requirements.hpp>

#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace overdub {
namespace detail {

#if defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__ > 0
inline constexpr bool assumes_finite_numbers = true;
#else
inline constexpr bool assumes_finite_numbers = false;
#endif

// The bits of |x|. The empty assembly hides their origin: clang assumes that results of arithmetic are finite, and propagates this through
// the bits.
template <std::floating_point T>
constexpr auto magnitude_bits(T x) {
  using bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  auto b = std::bit_cast<bits>(x);
#if defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__ > 0
  if (!std::is_constant_evaluated()) __asm__("" : "+r"(b));
#endif
  return static_cast<bits>(b & ~(bits{1} << (sizeof(T) * 8 - 1)));
}

// Returns x, and hides from the compiler how x was computed, so that it does not reassociate across this point. It is not conditional,
// since not all compilers have macros for -fassociative-math and -funsafe-math-optimizations, and the empty assembly takes no instruction.
template <std::floating_point T>
constexpr T as_rounded(T x) {
  if (!std::is_constant_evaluated()) {
#if defined(__x86_64__)
    if constexpr (sizeof(T) <= 8)
      __asm__("" : "+x"(x));
    else
#endif
      __asm__("" : "+m"(x));
  }
  return x;
}

// The bits of infinity: an exponent of ones, and a significand of zeros.
template <std::floating_point T>
constexpr auto infinity_bits = [] {
  constexpr int significand = std::numeric_limits<T>::digits - 1;
  auto const all = static_cast<decltype(magnitude_bits(T{}))>(-1) >> 1;
  return static_cast<decltype(magnitude_bits(T{}))>(all >> significand << significand);
}();

} // namespace detail

/// Whether x is NaN. Tests the bits if the compiler assumes that there are no NaNs; for long double, the test of <cmath>. O(1),
/// thread-safe.
template <std::floating_point T>
constexpr bool is_nan(T x) {
  if constexpr (detail::assumes_finite_numbers && sizeof(T) <= 8)
    return detail::magnitude_bits(x) > detail::infinity_bits<T>;
  else
    return std::isnan(x);
}

/// Whether x is infinite; see is_nan.
template <std::floating_point T>
constexpr bool is_infinite(T x) {
  if constexpr (detail::assumes_finite_numbers && sizeof(T) <= 8)
    return detail::magnitude_bits(x) == detail::infinity_bits<T>;
  else
    return std::isinf(x);
}

/// Whether x is neither NaN nor infinite; see is_nan.
template <std::floating_point T>
constexpr bool is_finite(T x) {
  if constexpr (detail::assumes_finite_numbers && sizeof(T) <= 8)
    return detail::magnitude_bits(x) < detail::infinity_bits<T>;
  else
    return std::isfinite(x);
}

} // namespace overdub
