// Draws of standard distributions, from any uniform random bit generator. All are exact, by rejection sampling where needed. A generator is
// used by one thread at a time.
#pragma once

#include <overdub/core/requirements.hpp>
#include <overdub/random.hpp>

#include <boost/random/exponential_distribution.hpp>
#include <boost/random/normal_distribution.hpp>
#include <boost/random/uniform_int_distribution.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace overdub::distributions {

/// A number in the open interval (0, 1): a multiple of 2^-53, or 2^-54 in place of 0. It consumes one number of a 64-bit generator.
double draw_uniform(bit_generator auto& g) {
  using G = std::remove_reference_t<decltype(g)>;
  std::uint64_t bits = 0;
  if constexpr (G::min() == 0 && G::max() == std::numeric_limits<std::uint64_t>::max())
    bits = g() >> 11;
  else
    bits = boost::random::uniform_int_distribution<std::uint64_t>(0, (std::uint64_t{1} << 53) - 1)(g);
  return (bits > 0 ? static_cast<double>(bits) : 0.5) * 0x1p-53;
}

/// A standard normal number, by Boost's ziggurat (Marsaglia and Tsang, 2000).
double draw_normal(bit_generator auto& g) { return boost::random::normal_distribution<double>()(g); }

/// An exponential number of rate 1, by Boost's ziggurat; greater than 0.
double draw_exponential(bit_generator auto& g) {
  double x = 0;
  while (x <= 0) x = boost::random::exponential_distribution<double>()(g);
  return x;
}

/// A gamma variable of shape at least 1, and rate 1 (Marsaglia and Tsang, A Simple Method for Generating Gamma Variables, 2000).
double draw_large_gamma(bit_generator auto& g, double shape) {
  double const d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  for (;;) {
    double const z = draw_normal(g), v = 1 + c * z;
    if (v <= 0) continue;
    double const vvv = v * v * v, u = draw_uniform(g);
    if (std::log(u) < 0.5 * z * z + d * (1 - vvv + std::log(vvv))) return d * vvv;
  }
}

/// The logarithm of a gamma variable of any shape above 0, and rate 1. It is finite where the variable itself underflows.
double draw_log_gamma(bit_generator auto& g, double shape) {
  if (shape >= 1) return std::log(draw_large_gamma(g, shape));
  double const larger = std::log(draw_large_gamma(g, shape + 1));
  return larger - draw_exponential(g) / shape;
}

/// A standard normal number between low < high, which may be infinite (Robert, Simulation of Truncated Normal Variables, 1995).
double draw_normal_between(bit_generator auto& g, double low, double high) {
  if (high < 0) return -draw_normal_between(g, -high, -low);
  bool const contains_0 = low <= 0;
  if (contains_0 && high - low > 2.5) { // the acceptance rate is high enough
    for (;;)
      if (double const z = draw_normal(g); low <= z && z <= high) return z;
  }
  double const rate = contains_0 ? 0 : 0.5 * (low + std::sqrt(low * low + 4)), width = high - low;
  if (contains_0 || width * rate < 1) { // rejection from a uniform proposal
    double const mode = contains_0 ? 0 : low;
    for (;;) {
      double const z = low + width * draw_uniform(g);
      if (std::log(draw_uniform(g)) < 0.5 * (mode - z) * (mode + z)) return z;
    }
  }
  for (;;) { // rejection from an exponential proposal from low on
    double const z = low + draw_exponential(g) / rate;
    if (z <= high && std::log(draw_uniform(g)) < -0.5 * (z - rate) * (z - rate)) return z;
  }
}

/// An index below n, with a probability proportional to weight(i); the weights are at least 0, and sum to `total`. If rounding leaves a
/// rest, it is the last index of a positive weight. O(n).
template <class At>
std::int64_t draw_index(bit_generator auto& g, std::int64_t n, double total, At const& weight) {
  double left = total * draw_uniform(g);
  std::int64_t last = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    double const w = weight(i);
    if (w <= 0) continue;
    last = i;
    if (left < w) break;
    left -= w;
  }
  return last;
}

/// x, or the largest finite number of its sign where x is infinite.
inline double kept_finite(double x) {
  return std::clamp(x, std::numeric_limits<double>::lowest(), std::numeric_limits<double>::max());
}

/// x, clamped to the positive normal numbers.
inline double kept_positive(double x) { return std::max(kept_finite(x), std::numeric_limits<double>::min()); }

/// x, clamped to the open interval (0, 1).
inline double kept_between_0_and_1(double x) {
  return std::clamp(x, std::numeric_limits<double>::min(), 1 - std::numeric_limits<double>::epsilon() / 2);
}

} // namespace overdub::distributions
