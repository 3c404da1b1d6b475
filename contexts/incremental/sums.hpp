// Sums that differences are added to, and what is rounded away of them.
#pragma once

#include <overdub/core/floating_point.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace overdub::contexts::increments {

/// A floating-point number of a word that holds its bits.
template <class T>
T number_in(std::uint64_t word) {
  return std::bit_cast<T>(
      static_cast<std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>>(word));
}

/// A sum, and what was rounded away of it. Knuth, The Art of Computer Programming 2, 4.2.2, theorem B.
template <class T>
std::pair<T, T> sum_of_two(T a, T b) {
  using overdub::detail::as_rounded;
  T const sum = as_rounded(a + b), added = as_rounded(sum - a), kept = as_rounded(sum - added);
  return {sum, as_rounded(a - kept) + as_rounded(b - added)};
}

/// The largest magnitude of a sum since it was added up anew; `most` is that of the sums before this one.
template <class T>
double largest(T sum, double most) {
  double const is = std::abs(static_cast<double>(sum));
  return is > most ? is : most;
}

/// Whether a sum is so much smaller than it was that the rounding errors of that are not negligible any more: a part in 2^33 of it; of
/// single precision, in 2^15. `most` is its largest magnitude. The scale of the sum does not matter. False where it is NaN.
template <class T>
bool is_cancelled(T sum, double most) {
  constexpr double times = sizeof(T) == 8 ? 0x1p19 : 0x1p8;
  return most > times * std::abs(static_cast<double>(sum)) && !is_nan(sum);
}

} // namespace overdub::contexts::increments
