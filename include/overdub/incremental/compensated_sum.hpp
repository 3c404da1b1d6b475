// Compensated summation: sums that are updated by differences, and their rounding errors.
#pragma once

#include <overdub/core/floating_point.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace overdub::increments {

/// The floating-point number whose bits a word holds.
template <class T>
T number_in(std::uint64_t word) {
  return std::bit_cast<T>(
      static_cast<std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>>(word));
}

/// TwoSum: the rounded sum of two numbers and its rounding error. Knuth, The Art of Computer Programming 2, 4.2.2, theorem B.
template <class T>
std::pair<T, T> two_sum(T a, T b) {
  using overdub::detail::as_rounded;
  T const sum = as_rounded(a + b), added = as_rounded(sum - a), recovered = as_rounded(sum - added);
  return {sum, as_rounded(a - recovered) + as_rounded(b - added)};
}

/// The largest magnitude of a sum since it was last added up; `largest` is that of its earlier values.
template <class T>
double larger_magnitude(T sum, double largest) {
  double const is = std::abs(static_cast<double>(sum));
  return is > largest ? is : largest;
}

/// Whether the rounding errors of earlier values of a sum are not negligible any more, since it was 2^19 times as large (single
/// precision: 2^8 times): they may be 2^-33 of it (2^-15). `largest` is its largest magnitude. The result does not depend on the scale of
/// the sum. False for NaN.
template <class T>
bool is_cancelled(T sum, double largest) {
  constexpr double times = sizeof(T) == 8 ? 0x1p19 : 0x1p8;
  return largest > times * std::abs(static_cast<double>(sum)) && !is_nan(sum);
}

} // namespace overdub::increments
