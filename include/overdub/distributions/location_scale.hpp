// Location-scale distributions on the real line: normal, cauchy.
#pragma once

#include <overdub/distributions/distribution.hpp>
#include <overdub/distributions/standard_draws.hpp>
#include <overdub/random.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <tuple>

namespace overdub::distributions {

/// normal(mean, sd), with the density exp(-((x - mean) / sd)^2 / 2) / (sd sqrt(2 pi)).
struct normal_t : distribution<"normal", normal_t> {
  static constexpr bool is_total = true;
  static constexpr std::tuple parameters{parameter<reals>{"mean"}, parameter<positive_reals>{"sd"}};
  static constexpr reals support(auto const&...) { return {}; }
  static constexpr auto log_density_at(auto const& x, auto const& mean, auto const& sd) {
    auto const z = (x - mean) * (1.0 / sd); // for many x with one sd, 1 / sd is loop-invariant
    return -0.5 * z * z - log(sd) - 0.5 * log_two_pi;
  }
  static constexpr auto log_survival(auto const& x, auto const& mean, auto const& sd) {
    return log_normal_survival((x - mean) / sd);
  }
  static constexpr auto log_cumulative(auto const& x, auto const& mean, auto const& sd) {
    return log_normal_survival((mean - x) / sd);
  }
  static constexpr auto log_mass(auto const& low, auto const& high, auto const& mean, auto const& sd) {
    return log_normal_mass((low - mean) / sd, (high - mean) / sd, (high - low) / sd);
  }
  static double draw(bit_generator auto& g, double mean, double sd) {
    return kept_finite(mean + sd * draw_normal(g));
  }
  static double draw_between(bit_generator auto& g, double low, double high, double mean, double sd) {
    return std::clamp(mean + sd * draw_normal_between(g, (low - mean) / sd, (high - mean) / sd), low, high);
  }
};
inline constexpr normal_t normal{};

/// cauchy(location, scale), with the density 1 / (pi scale (1 + ((x - location) / scale)^2)).
class cauchy_t : public distribution<"cauchy", cauchy_t> {
  // The difference of the arctangents of the standardised bounds, computed from its tangent, which neither cancels nor overflows.
  static constexpr auto angle(auto const& low, auto const& high, auto const& location, auto const& scale) {
    auto const a = (low - location) / scale, b = (high - location) / scale, size = max(abs(a), 1.0);
    return atan2((high - low) / scale / size, 1.0 / size + (a / size) * b);
  }

public:
  static constexpr bool is_total = true;
  static constexpr std::tuple parameters{parameter<reals>{"location"}, parameter<positive_reals>{"scale"}};
  static constexpr reals support(auto const&...) { return {}; }
  static constexpr auto log_density_at(auto const& x, auto const& location, auto const& scale) {
    return -log_pi - log(scale) - log1p_square((x - location) / scale);
  }
  static constexpr auto log_survival(auto const& x, auto const& location, auto const& scale) {
    return log(atan2(scale, x - location)) - log_pi;
  }
  static constexpr auto log_cumulative(auto const& x, auto const& location, auto const& scale) {
    return log(atan2(scale, location - x)) - log_pi;
  }
  static constexpr auto log_mass(auto const& low, auto const& high, auto const& location, auto const& scale) {
    return log(angle(low, high, location, scale)) - log_pi;
  }
  static double draw(bit_generator auto& g, double location, double scale) {
    return kept_finite(location + scale * std::tan(std::numbers::pi * (draw_uniform(g) - 0.5)));
  }
  static double draw_between(bit_generator auto& g, double low, double high, double location, double scale) {
    double const u = draw_uniform(g);
    double x = 0;
    if (high == infinity) // a uniform fraction of the angle to infinity
      x = location + scale / std::tan(u * std::atan2(scale, low - location));
    else if (low == -infinity)
      x = location - scale / std::tan(u * std::atan2(scale, location - high));
    else {
      double const a = (low - location) / scale, t = std::tan(u * angle(low, high, location, scale));
      x = location + scale * ((a + t) / (1 - a * t)); // the tangent of a sum
    }
    return std::clamp(x, std::max(low, std::numeric_limits<double>::lowest()), kept_finite(high));
  }
};
inline constexpr cauchy_t cauchy{};

} // namespace overdub::distributions
