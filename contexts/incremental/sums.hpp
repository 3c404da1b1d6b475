// Sums that differences are added to, and what is rounded away of them.
#pragma once

#include <cmath>
#include <utility>

namespace overdub::contexts::increments {

/// A sum, and what was rounded away of it. Knuth, The Art of Computer Programming 2, 4.2.2, theorem B.
template <class T>
std::pair<T, T> sum_of_two(T a, T b) {
  T const sum = a + b, added = sum - a, kept = sum - added;
  return {sum, (a - kept) + (b - added)};
}

/// Whether a sum became so much less than it was that what was rounded away of that is not little any more: a part in 2^33 of it, or
/// some parts in 10^12 of what is less than 1; of single precision, in 2^15. `most` is the largest that it was since it was added up anew.
/// True, too, where the sum is NaN.
template <class T>
bool is_lost(T before, T sum, double& most) {
  constexpr double times = sizeof(T) == 8 ? 0x1p19 : 0x1p8, least = 0x1p-6;
  double const was = std::abs(static_cast<double>(before)), is = std::abs(static_cast<double>(sum));
  most = was > most ? was : most;
  return !(most <= times * (is < least ? least : is));
}

} // namespace overdub::contexts::increments
