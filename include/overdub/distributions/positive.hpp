// Distributions of positive numbers: lognormal, half_normal, exponential, gamma, inverse_gamma.
#pragma once

#include <overdub/distributions/gamma_terms.hpp>
#include <overdub/distributions/location_scale.hpp>
#include <overdub/random.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

namespace overdub::distributions {

/// lognormal(log_mean, log_sd): exp of a normal variable, with the density normal(log x) / x.
struct lognormal_t : distribution<"lognormal", lognormal_t> {
  static constexpr std::tuple parameters{parameter<reals>{"log_mean"}, parameter<positive_reals>{"log_sd"}};
  static constexpr positive_reals support(auto const&...) { return {}; }
  static constexpr auto log_density_at(auto const& x, auto const& log_mean, auto const& log_sd) {
    auto const y = log(x);
    return normal_t::log_density_at(y, log_mean, log_sd) - y;
  }
  static constexpr auto log_survival(auto const& x, auto const& log_mean, auto const& log_sd) {
    return normal_t::log_survival(log_of(x), log_mean, log_sd);
  }
  static constexpr auto log_cumulative(auto const& x, auto const& log_mean, auto const& log_sd) {
    return normal_t::log_cumulative(log_of(x), log_mean, log_sd);
  }
  static constexpr auto
  log_mass(auto const& low, auto const& high, auto const& log_mean, auto const& log_sd) {
    return normal_t::log_mass(log_of(low), log_of(high), log_mean, log_sd);
  }
  static double draw(bit_generator auto& g, double log_mean, double log_sd) {
    return kept_positive(std::exp(normal_t::draw(g, log_mean, log_sd)));
  }
  static double draw_between(bit_generator auto& g, double low, double high, double log_mean, double log_sd) {
    double const from = std::log(kept_positive(low));
    return std::clamp(
        kept_positive(std::exp(normal_t::draw_between(g, from, std::log(high), log_mean, log_sd))), low,
        high);
  }

private:
  // The logarithm of a bound; a bound that is not positive counts as the smallest normal number.
  static constexpr auto log_of(auto const& bound) {
    return log(max(bound, std::numeric_limits<double>::min()));
  }
};
inline constexpr lognormal_t lognormal{};

/// half_normal(sd): the absolute value of a normal variable of mean 0, with the density 2 normal(x).
struct half_normal_t : distribution<"half_normal", half_normal_t> {
  static constexpr std::tuple parameters{parameter<positive_reals>{"sd"}};
  static constexpr nonnegative_reals support(auto const&...) { return {}; }
  static constexpr auto log_density_at(auto const& x, auto const& sd) {
    auto const z = x / sd;
    return -0.5 * z * z - log(sd) + (log_2 - 0.5 * log_two_pi);
  }
  static constexpr auto log_survival(auto const& x, auto const& sd) {
    return log_2 + log_normal_survival(max(x, 0.0) / sd);
  }
  static constexpr auto log_cumulative(auto const& x, auto const& sd) {
    return log(erf(inverse_sqrt_2 * (max(x, 0.0) / sd)));
  }
  static constexpr auto log_mass(auto const& low, auto const& high, auto const& sd) {
    auto const from = max(low, 0.0), to = max(high, 0.0);
    return log_2 + log_normal_mass(from / sd, to / sd, (to - from) / sd);
  }
  static double draw(bit_generator auto& g, double sd) { return kept_finite(sd * std::abs(draw_normal(g))); }
  static double draw_between(bit_generator auto& g, double low, double high, double sd) {
    return normal_t::draw_between(g, std::max(low, 0.0), high, 0.0, sd);
  }
};
inline constexpr half_normal_t half_normal{};

/// exponential(rate), with the density rate exp(-rate x).
struct exponential_t : distribution<"exponential", exponential_t> {
  static constexpr std::tuple parameters{parameter<positive_reals>{"rate"}};
  static constexpr nonnegative_reals support(auto const&...) { return {}; }
  static constexpr auto log_density_at(auto const& x, auto const& rate) { return log(rate) - rate * x; }
  static constexpr auto log_survival(auto const& x, auto const& rate) { return -rate * max(x, 0.0); }
  static constexpr auto log_cumulative(auto const& x, auto const& rate) {
    return log(-expm1(-rate * max(x, 0.0)));
  }
  static constexpr auto log_mass(auto const& low, auto const& high, auto const& rate) {
    auto const from = max(low, 0.0);
    return log(-expm1(-rate * (max(high, 0.0) - from))) - rate * from;
  }
  static double draw(bit_generator auto& g, double rate) { return kept_finite(draw_exponential(g) / rate); }
  static double draw_between(bit_generator auto& g, double low, double high, double rate) {
    double const from = std::max(low, 0.0);
    return std::clamp(
        from - std::log1p(draw_uniform(g) * std::expm1(-rate * (high - from))) / rate, from, high);
  }
};
inline constexpr exponential_t exponential{};

/// gamma(shape, rate), with the density rate^shape x^(shape - 1) exp(-rate x) / Gamma(shape).
struct gamma_t : distribution<"gamma", gamma_t> {
  static constexpr std::tuple parameters{
      parameter<positive_reals>{"shape"}, parameter<positive_reals>{"rate"}};
  static constexpr positive_reals support(auto const&...) { return {}; }
  static constexpr auto log_density_at(auto const& x, auto const& shape, auto const& rate) {
    return log_poisson_term(shape, rate * x) + log(shape) - log(x);
  }
  static double draw(bit_generator auto& g, double shape, double rate) {
    return kept_positive(std::exp(draw_log_gamma(g, shape) - std::log(rate)));
  }
};
inline constexpr gamma_t gamma{};

/// inverse_gamma(shape, scale): scale divided by a gamma variable of rate 1, with the density scale^shape x^(-shape - 1) exp(-scale / x) /
/// Gamma(shape).
struct inverse_gamma_t : distribution<"inverse_gamma", inverse_gamma_t> {
  static constexpr std::tuple parameters{
      parameter<positive_reals>{"shape"}, parameter<positive_reals>{"scale"}};
  static constexpr positive_reals support(auto const&...) { return {}; }
  static constexpr auto log_density_at(auto const& x, auto const& shape, auto const& scale) {
    return log_poisson_term(shape, scale / x) + log(shape) - log(x);
  }
  static double draw(bit_generator auto& g, double shape, double scale) {
    return kept_positive(std::exp(std::log(scale) - draw_log_gamma(g, shape)));
  }
};
inline constexpr inverse_gamma_t inverse_gamma{};

} // namespace overdub::distributions
