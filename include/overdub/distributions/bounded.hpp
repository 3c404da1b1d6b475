// Distributions of numbers between bounds: beta, uniform.
#pragma once

#include <overdub/distributions/distribution.hpp>
#include <overdub/distributions/gamma_terms.hpp>
#include <overdub/distributions/standard_draws.hpp>
#include <overdub/random.hpp>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <tuple>

namespace overdub::distributions {

/// beta(a, b), with the density Gamma(a + b) / (Gamma(a) Gamma(b)) x^(a - 1) (1 - x)^(b - 1).
struct beta_t : distribution<"beta", beta_t> {
  static constexpr std::tuple parameters{parameter<positive_reals>{"a"}, parameter<positive_reals>{"b"}};
  static constexpr open_unit_interval support(auto const&...) { return {}; }
  static constexpr auto log_density_at(auto const& x, auto const& a, auto const& b) {
    auto const n = a + b;
    return log_poisson_term(a, n * x) + log_poisson_term(b, n * (1.0 - x)) - log_poisson_term(n, n) +
           (log(a) + log(b) - log(n)) - log(x) - log1p(-x);
  }
  static double draw(bit_generator auto& g, double a, double b) {
    double const p = draw_log_gamma(g, a), q = draw_log_gamma(g, b);
    if (std::max(p, q) == -infinity) return kept_between_0_and_1(draw_uniform(g) * (a + b) < a ? 1 : 0);
    return kept_between_0_and_1(p < q ? std::exp(p - q) / (1 + std::exp(p - q)) : 1 / (1 + std::exp(q - p)));
  }
};
inline constexpr beta_t beta{};

/// uniform(low, high), with the density 1 / (high - low), the bounds included.
struct uniform_t : distribution<"uniform", uniform_t> {
  static constexpr std::tuple parameters{parameter<reals>{"low"}, parameter<reals>{"high"}};
  static constexpr auto consistent(auto const& low, auto const& high) {
    return low < high && high - low < infinity;
  }
  static constexpr std::string_view relation = "low must be less than high, by a finite number";
  static constexpr auto support(auto const& low, auto const& high) { return interval{low, high}; }
  static constexpr auto log_density_at(auto const&, auto const& low, auto const& high) {
    return -log(high - low);
  }
  static constexpr auto log_survival(auto const& x, auto const& low, auto const& high) {
    return log((high - clamp(x, low, high)) / (high - low));
  }
  static constexpr auto log_cumulative(auto const& x, auto const& low, auto const& high) {
    return log((clamp(x, low, high) - low) / (high - low));
  }
  static constexpr auto log_mass(auto const& from, auto const& to, auto const& low, auto const& high) {
    return log((clamp(to, low, high) - clamp(from, low, high)) / (high - low));
  }
  static double draw(bit_generator auto& g, double low, double high) {
    return std::clamp(low + (high - low) * draw_uniform(g), low, high);
  }
  static double draw_between(bit_generator auto& g, double from, double to, double low, double high) {
    return draw(g, std::max(from, low), std::min(to, high));
  }
};
inline constexpr uniform_t uniform{};

} // namespace overdub::distributions
