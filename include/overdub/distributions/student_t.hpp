// Student's t distribution.
#pragma once

#include <overdub/distributions/distribution.hpp>
#include <overdub/distributions/gamma_terms.hpp>
#include <overdub/distributions/standard_draws.hpp>
#include <overdub/random.hpp>

#include <cmath>
#include <tuple>

namespace overdub::distributions {

/// student_t(df, location, scale): Student's t with df degrees of freedom, shifted and scaled. Its density, with z = (x - location) /
/// scale, is Gamma((df + 1) / 2) / (Gamma(df / 2) sqrt(df pi) scale) (1 + z^2 / df)^(-(df + 1) / 2).
struct student_t_t : distribution<"student_t", student_t_t> {
  static constexpr std::tuple parameters{
      parameter<positive_reals>{"df"}, parameter<reals>{"location"}, parameter<positive_reals>{"scale"}};
  static constexpr reals support(auto const&...) { return {}; }
  static constexpr auto
  log_density_at(auto const& x, auto const& df, auto const& location, auto const& scale) {
    auto const t = (x - location) / (scale * sqrt(df));
    return log_gamma_half_step(0.5 * df) - 0.5 * (log_pi + log_2) - log(scale) -
           0.5 * (df + 1.0) * log1p_square(t);
  }
  static double draw(bit_generator auto& g, double df, double location, double scale) {
    double const z = draw_normal(g);
    // The root of a chi-squared variable over its degrees of freedom, by logarithms: the variable itself may underflow.
    double const spread = std::exp(0.5 * (draw_log_gamma(g, 0.5 * df) - std::log(0.5 * df)));
    return kept_finite(location + scale * (z / spread));
  }
};
inline constexpr student_t_t student_t{};

} // namespace overdub::distributions
