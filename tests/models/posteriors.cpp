// Posteriors of models by NUTS, by moves and by variational inference, against integrals in closed form or by quadrature: means,
// standard deviations and quantiles within their Monte Carlo errors.
#include "catch.hpp"
#include "models/model_posteriors.hpp"

#include <overdub/inference/chains.hpp>
#include <overdub/inference/variational.hpp>
#include <overdub/models/hamiltonian_move.hpp>
#include <overdub/models/mcmc.hpp>
#include <overdub/models/posterior.hpp>

#include <boost/math/distributions/inverse_gamma.hpp>
#include <boost/math/distributions/students_t.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <string>
#include <tuple>
#include <vector>

namespace {

using namespace model_posteriors;

od::random_key const key(1);
constexpr double z95 = 1.6448536269514722; // the normal quantile of 0.95

inf::draws
by_nuts(auto const& m, ms::choice_map const& observed, std::size_t draws, double acceptance = 0.8) {
  return inf::sample(
      ms::posterior(m, observed), {.chains = 4,
                                   .warmup = 500,
                                   .draws = draws,
                                   .threads = 1,
                                   .adaptation = {.target_acceptance = acceptance}});
}
inf::draws by_moves(auto const& m, ms::choice_map const& observed, std::size_t draws, auto const&... moves) {
  return inf::run_chains(
      ms::mcmc(m, observed, moves...), {.chains = 4, .warmup = 500, .draws = draws, .threads = 1}, key);
}

// ---- eight schools

inline constexpr auto eight_schools = od::fn<"eight_schools">([](od::scope auto& cx, auto errors_of) {
  auto const mu = cx(od::sample<"mu">, ds::normal(0, 5));
  auto const tau = cx(od::sample<"tau">, ds::truncated_below(ds::cauchy(0, 5), 0));
  return od::sum(od::map(
      [&](auto error) {
        auto const theta = cx(od::sample<"theta">, ds::normal(mu, tau));
        return cx(od::sample<"y">, ds::normal(theta, error));
      },
      errors_of));
});
constexpr std::array<double, 8> effects{28, 8, -3, 7, -1, 1, 18, 12},
    school_errors{15, 10, 16, 11, 9, 11, 10, 18};

// Given tau, the posterior is normal (Gelman and others, Bayesian Data Analysis, 3rd edition, section 5.4), and the rest is an integral
// over tau. By tau = 5 tan(pi u / 2) its prior, half of a Cauchy distribution, is uniform in u: the midpoint rule of 4,000 points.
struct schools_posterior {
  known mu, tau, first;
};
schools_posterior exact_schools() {
  normal_mixture mu, first;
  std::vector<double> taus, likelihoods;
  std::size_t const n = 4000;
  for (std::size_t i = 0; i < n; ++i) {
    double const u = (static_cast<double>(i) + 0.5) / static_cast<double>(n);
    double const tau = 5 * std::tan(std::numbers::pi * u / 2);
    double precision = 1.0 / 25, weighted = 0, log_likelihood = 0;
    for (std::size_t j = 0; j < 8; ++j) {
      double const variance = school_errors[j] * school_errors[j] + tau * tau;
      precision += 1 / variance;
      weighted += effects[j] / variance;
      log_likelihood -= 0.5 * (std::log(variance) + effects[j] * effects[j] / variance);
    }
    double const mean = weighted / precision;
    log_likelihood += 0.5 * (mean * weighted - std::log(precision));
    double const likelihood = std::exp(log_likelihood + 30);
    taus.push_back(tau);
    likelihoods.push_back(likelihood);
    mu.add(likelihood, mean, 1 / std::sqrt(precision));
    double const error = school_errors[0] * school_errors[0], share = tau * tau / (tau * tau + error);
    first.add(
        likelihood, share * effects[0] + (1 - share) * mean,
        std::sqrt(share * error + (1 - share) * (1 - share) / precision));
  }
  return {mu.moments(), moments_on_grid(taus, likelihoods), first.moments()};
}

ms::choice_map const schools_seen{{"y", vec::copy_of(effects)}};

} // namespace

TEST_CASE("NUTS has the exact posterior of eight schools, not centred") {
  auto const m = ms::model(fast(), eight_schools_noncentred, vec::copy_of(school_errors));
  inf::draws const d = by_nuts(m, schools_seen, 2500, 0.9);
  schools_posterior const exact = exact_schools();
  check_draws(d, "mu", exact.mu);
  check_draws(d, "tau", exact.tau);
  CHECK(inf::summary(d).divergences() < 10);
}

TEST_CASE("NUTS warns of eight schools, centred") {
  auto const m = ms::model(fast(), eight_schools, vec::copy_of(school_errors));
  inf::summary const s(by_nuts(m, schools_seen, 1000));
  CHECK(s.divergences() > 10);
  CHECK(s.warnings().size() > 1);
}

TEST_CASE(
    "eight schools, centred, have the known posterior by moves, two of which change several choices",
    "[statistics]") {
  auto const m = ms::model(fast(), eight_schools, vec::copy_of(school_errors));
  std::uint32_t const mu = m.core()->site_at("mu"), tau = m.core()->site_at("tau"),
                      theta = m.core()->site_at("theta");
  auto const each = [](od::datum const& all, auto const& f) {
    std::vector<double> changed;
    for (double const x : all.template elements<double>()) changed.push_back(f(x));
    return od::datum(vec::copy_of(changed));
  };
  // Shifts the effects and their mean.
  auto const shift = ms::metropolis([=](auto& t, od::random_key const& k) {
    od::random_generator g(k);
    double const by = 3 * inf::drawing::normal(g);
    t.set_all(theta, each(t.values(theta), [&](double x) { return x + by; }));
    t.set_bits(mu, {}, std::bit_cast<std::uint64_t>(t.number(mu, {}) + by));
    return 0.0;
  });
  // Scales their deviations from the mean, and tau, by one factor: the Jacobian is its ninth power.
  auto const stretch = ms::metropolis([=](auto& t, od::random_key const& k) {
    od::random_generator g(k);
    double const log_factor = inf::drawing::normal(g), centre = t.number(mu, {});
    t.set_all(
        theta, each(t.values(theta), [&](double x) { return centre + std::exp(log_factor) * (x - centre); }));
    t.set_bits(tau, {}, std::bit_cast<std::uint64_t>(std::exp(log_factor) * t.number(tau, {})));
    return 9 * log_factor;
  });
  inf::draws const d = by_moves(m, schools_seen, 5000, shift, stretch, ms::random_walk("theta", 5));
  schools_posterior const exact = exact_schools();
  check_draws(d, "mu", exact.mu);
  check_draws(d, "tau", exact.tau);
  check_draws(d, "theta.1", exact.first);
}

// ---- linear models

namespace {

inline constexpr auto line = od::fn<"line">([](od::scope auto& cx, auto xs) {
  auto const variance = cx(od::sample<"variance">, ds::inverse_gamma(3, 2));
  auto const sd = sqrt(variance);
  auto const a = cx(od::sample<"a">, ds::normal(0, 10.0 * sd));
  auto const b = cx(od::sample<"b">, ds::normal(0, 10.0 * sd));
  return od::sum(od::map([&](auto x) { return cx(od::sample<"y">, ds::normal(a + b * x, sd)); }, xs));
});

inline constexpr auto autoregression = od::fn<"autoregression">([](od::scope auto& cx, auto n, auto sd) {
  auto const level = cx(od::sample<"level">, ds::normal(0, 1));
  auto const first = cx(od::sample<"first">, ds::normal(0, 1));
  auto const second = cx(od::sample<"second">, ds::normal(0, 1));
  return od::loop(n, std::tuple(cx.lift(0.0), cx.lift(0.0)), [&](auto, auto before) {
    auto const [one, two] = before;
    return std::tuple(cx(od::sample<"y">, ds::normal(level + first * one + second * two, sd)), one);
  });
});

// The posterior of coefficients, each N(0, 1/ridge) in units of the noise: its precision in these units, its inverse, and its mean.
template <std::size_t K>
struct normal_equations {
  std::array<std::array<double, K>, K> precision{}, covariance{};
  std::array<double, K> mean{};
  double residual = 0; // y'y - mean' precision mean

  normal_equations(
      std::vector<std::array<double, K>> const& design, std::vector<double> const& y, double ridge) {
    std::array<double, K> moment{};
    for (std::size_t i = 0; i < K; ++i) precision[i][i] = ridge;
    for (std::size_t t = 0; t < y.size(); ++t) {
      residual += y[t] * y[t];
      for (std::size_t i = 0; i < K; ++i) {
        moment[i] += design[t][i] * y[t];
        for (std::size_t j = 0; j < K; ++j) precision[i][j] += design[t][i] * design[t][j];
      }
    }
    auto left = precision; // Gauss and Jordan
    for (std::size_t i = 0; i < K; ++i) covariance[i][i] = 1;
    for (std::size_t i = 0; i < K; ++i) {
      double const pivot = left[i][i];
      for (std::size_t j = 0; j < K; ++j) {
        left[i][j] /= pivot;
        covariance[i][j] /= pivot;
      }
      for (std::size_t r = 0; r < K; ++r) {
        double const by = left[r][i];
        for (std::size_t j = 0; r != i && j < K; ++j) {
          left[r][j] -= by * left[i][j];
          covariance[r][j] -= by * covariance[i][j];
        }
      }
    }
    for (std::size_t i = 0; i < K; ++i)
      for (std::size_t j = 0; j < K; ++j) mean[i] += covariance[i][j] * moment[j];
    for (std::size_t i = 0; i < K; ++i) residual -= mean[i] * moment[i];
  }
};

std::vector<double> const line_x{-1, 0, 0.5, 1, 2, 2.5, 3}, line_y{-1.8, 0.3, 1.2, 2.4, 3.8, 5.5, 5.9};
ms::choice_map const line_seen{{"y", vec::copy_of(line_y)}};

// Of a normal prior and an inverse gamma one, the coefficients are Student's t, and the variance is inverse gamma (Gelman and others,
// section 14.2, with a proper prior).
struct line_posterior {
  known a, b, variance;
};
line_posterior exact_line() {
  std::vector<std::array<double, 2>> design;
  for (double const x : line_x) design.push_back({1, x});
  normal_equations<2> const e(design, line_y, 0.01);
  double const shape = 3 + 0.5 * static_cast<double>(line_y.size()), scale = 2 + 0.5 * e.residual;
  boost::math::students_t_distribution<double> const t(2 * shape);
  boost::math::inverse_gamma_distribution<double> const v(shape, scale);
  auto const coefficient = [&](std::size_t i) {
    double const unit = std::sqrt(scale / shape * e.covariance[i][i]), q = quantile(t, 0.95) * unit;
    return known{e.mean[i], unit * std::sqrt(shape / (shape - 1)), e.mean[i] - q, e.mean[i] + q};
  };
  return {
      coefficient(0), coefficient(1), {mean(v), standard_deviation(v), quantile(v, 0.05), quantile(v, 0.95)}};
}

std::vector<double> const series{0.4,  0.9, 1.4, 1.1, 1.5, 0.8, 0.2, 0.6,
                                 -0.1, 0.3, 0.9, 1.6, 1.2, 0.7, 1.0, 1.3};

} // namespace

TEST_CASE("a line with an unknown variance has its posterior by NUTS, and by moves", "[statistics]") {
  auto const m = ms::model(fast(), line, vec::copy_of(line_x));
  line_posterior const exact = exact_line();
  for (inf::draws const& d :
       {by_nuts(m, line_seen, 2500),
        by_moves(
            m, line_seen, 10000, ms::random_walk("a"), ms::random_walk("b"), ms::random_walk("variance"),
            ms::from_prior("variance")),
        by_moves(m, line_seen, 5000, ms::no_u_turn{"a", "b"}, ms::no_u_turn{"variance"})}) {
    check_draws(d, "a", exact.a);
    check_draws(d, "b", exact.b);
    check_draws(d, "variance", exact.variance);
  }
}

TEST_CASE(
    "an autoregression with known noise has its posterior by NUTS, and its mean by variational inference") {
  double const sd = 0.5;
  std::vector<std::array<double, 3>> design;
  for (std::size_t t = 0; t < series.size(); ++t)
    design.push_back({1, t > 0 ? series[t - 1] : 0, t > 1 ? series[t - 2] : 0});
  normal_equations<3> const e(design, series, sd * sd); // coefficients are N(0, 1)
  auto const m = ms::model(fast(), autoregression, static_cast<i64>(series.size()), sd);
  ms::choice_map const observed{{"y", vec::copy_of(series)}};
  inf::draws const d = by_nuts(m, observed, 2500);
  ms::posterior const target(m, observed);
  inf::variational_fit const fit = inf::approximate(target, {}, key);
  CHECK(fit.converged);
  char const* const names[] = {"level", "first", "second"};
  for (std::size_t i = 0; i < 3; ++i) {
    double const deviation = sd * std::sqrt(e.covariance[i][i]);
    check_draws(
        d, names[i], {e.mean[i], deviation, e.mean[i] - z95 * deviation, e.mean[i] + z95 * deviation});
    // Of a normal target, the mean is its own, and the deviation that of the coordinate given the others.
    std::size_t at = 0;
    while (target.names()[at] != names[i]) ++at;
    CHECK(fit.means()[at] == Approx(e.mean[i]).margin(0.1 * deviation));
    CHECK(fit.sds()[at] == Approx(sd / std::sqrt(e.precision[i][i])).epsilon(0.1));
  }
}

// ---- mixtures and hidden states

namespace {

inline constexpr auto summed_mixture =
    od::fn<"summed_mixture">([](od::scope auto& cx, auto weights, auto centres, auto n) {
      auto const mu = od::map([&](auto c) { return cx(od::sample<"mu">, ds::normal(c, 1)); }, centres);
      return od::sum(cx(od::tabulate, n, [&](auto) {
        return cx(
            od::sample<"y">,
            ds::mixture(std::tuple(weights[0], weights[1]), ds::normal(mu[0], 0.8), ds::normal(mu[1], 0.8)));
      }));
    });

std::vector<double> const points{-2.6, -1.9, -0.4, 0.3, 2.2, 2.9};
std::vector<double> const weights{0.6, 0.4}, centres{-2.5, 2.5}; // apart: they do not change places

// Given the assignments, the means are normal: a sum over all 64 assignments.
struct mixture_posterior {
  normal_mixture mu[2];
  std::vector<double> first =
      std::vector<double>(points.size()); // the probability that a point is of component 1
};
mixture_posterior exact_mixture() {
  mixture_posterior result;
  double total = 0;
  for (unsigned z = 0; z < 1u << points.size(); ++z) {
    double log_weight = 0, mean[2], deviation[2];
    for (unsigned k = 0; k < 2; ++k) {
      double precision = 1, weighted = centres[k], squares = centres[k] * centres[k];
      for (std::size_t i = 0; i < points.size(); ++i)
        if ((z >> i & 1) == k) {
          precision += 1 / 0.64;
          weighted += points[i] / 0.64;
          squares += points[i] * points[i] / 0.64;
          log_weight += std::log(weights[k]);
        }
      mean[k] = weighted / precision;
      deviation[k] = 1 / std::sqrt(precision);
      log_weight += 0.5 * (weighted * mean[k] - squares - std::log(precision));
    }
    double const weight = std::exp(log_weight);
    total += weight;
    for (unsigned k = 0; k < 2; ++k) result.mu[k].add(weight, mean[k], deviation[k]);
    for (std::size_t i = 0; i < points.size(); ++i) result.first[i] += (z >> i & 1) * weight;
  }
  for (double& p : result.first) p /= total;
  return result;
}

// Two states: one emits at 0, the other at an unknown height.
inline constexpr auto steps = od::fn<"steps">([](od::scope auto& cx, auto rows, auto n) {
  auto const height = cx(od::sample<"height">, ds::normal(2, 1));
  return od::loop(n, cx.lift(i64{0}), [&](auto, auto before) {
    auto const z = cx(od::sample<"z">, ds::categorical(rows[before]));
    (void)cx(od::sample<"y">, ds::normal(height * od::convert<double>(z), 1));
    return z;
  });
});
std::vector<double> const climb{0.2, -0.5, 1.9, 1.2, 2.7, 0.8, 0.1, 1.4};

} // namespace

TEST_CASE(
    "a mixture has its posterior by gibbs, by Hamiltonian moves of means, and by NUTS of marginal densities",
    "[statistics]") {
  mixture_posterior const exact = exact_mixture();
  ms::choice_map const observed{{"y", vec::copy_of(points)}};
  auto const n = static_cast<i64>(points.size());
  inf::draws const moved = by_moves(
      ms::model(fast(), mixture, vec::copy_of(weights), vec::copy_of(centres), n), observed, 10000,
      ms::gibbs("z"), ms::random_walk("mu"));
  inf::draws const summed = by_nuts(
      ms::model(fast(), summed_mixture, vec::copy_of(weights), vec::copy_of(centres), n), observed, 2500);
  inf::draws const by_both = by_moves(
      ms::model(fast(), mixture, vec::copy_of(weights), vec::copy_of(centres), n), observed, 5000,
      ms::gibbs("z"), ms::no_u_turn{"mu"});
  for (std::size_t k = 0; k < 2; ++k)
    for (inf::draws const& d : {moved, summed, by_both})
      check_draws(d, "mu." + std::to_string(k + 1), exact.mu[k].moments());
  for (std::size_t i = 0; i < points.size(); ++i)
    for (inf::draws const& d : {moved, by_both})
      check_frequency(d, "z." + std::to_string(i + 1), 1, exact.first[i]);
}

TEST_CASE("moves have the exact posterior of a hidden Markov model with an unknown mean", "[statistics]") {
  // The likelihood of a height is the forward recursion's: the midpoint rule of 2,000 points on the heights within 6 deviations.
  matrix const rows{vec{0.8, 0.2}, vec{0.3, 0.7}};
  std::size_t const n = 2000;
  std::vector<double> heights, densities;
  std::vector<double> high(climb.size());
  double total = 0;
  for (std::size_t i = 0; i < n; ++i) {
    double const height = -4 + 12 * (static_cast<double>(i) + 0.5) / static_cast<double>(n);
    smoothed const s = forward_backward(rows, {0, height}, climb);
    double const density = std::exp(s.log_evidence - 0.5 * (height - 2) * (height - 2));
    heights.push_back(height);
    densities.push_back(density);
    total += density;
    for (std::size_t t = 0; t < climb.size(); ++t) high[t] += density * s.states[t][1];
  }
  inf::draws const d = by_moves(
      ms::model(fast(), steps, rows, static_cast<i64>(climb.size())), {{"y", vec::copy_of(climb)}}, 10000,
      ms::gibbs("z"), ms::random_walk("height"), ms::from_prior("z"));
  check_draws(d, "height", moments_on_grid(heights, densities));
  for (std::size_t t = 0; t < climb.size(); ++t)
    check_frequency(d, "z." + std::to_string(t + 1), 1, high[t] / total);
}
