// NUTS on targets whose moments are known: a Gaussian of correlated coordinates, the funnel, and the eight schools.
#include "catch.hpp"
#include "inference/targets.hpp"

#include <overdub/inference/chains.hpp>
#include <overdub/inference/summary.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

namespace {

using namespace overdub::inference;

struct moments {
  double mean = 0, sd = 0;
};

// The errors of an estimated mean, and of a standard deviation, in Monte Carlo standard errors.
double distance(chain_values const& x, moments const& exact) {
  double const mean = diagnosing::mean(x.values), sd = std::sqrt(diagnosing::variance(x.values));
  return std::max(std::abs(mean - exact.mean) / mcse_mean(x), std::abs(sd - exact.sd) / mcse_sd(x));
}

// The exact posterior of the eight schools: given tau, mu and the effects are Gaussian; the rest is an integral over tau, here by
// Simpson's rule on tau = s / (1 - s).
std::vector<moments> eight_schools_moments() {
  using school = targets::eight_schools;
  int const intervals = 4000;
  double total = 0;
  std::vector<double> first(10), second(10);
  for (int k = 1; k < intervals;
       ++k) { // both ends are 0: the one by the prior's tail, the other by an interval that is left out
    double const s = static_cast<double>(k) / intervals, tau = s / (1 - s);
    double precision = 1.0 / 25, weighted = 0, log_weight = 0;
    for (int j = 0; j < 8; ++j) {
      double const variance = school::errors[j] * school::errors[j] + tau * tau;
      precision += 1 / variance;
      weighted += school::effects[j] / variance;
      log_weight -= 0.5 * (std::log(variance) + school::effects[j] * school::effects[j] / variance);
    }
    double const mu = weighted / precision;
    log_weight += 0.5 * mu * mu * precision - 0.5 * std::log(precision);
    double const weight =
        (k % 2 == 1 ? 4 : 2) * std::exp(log_weight) / (1 + tau * tau / 25) / ((1 - s) * (1 - s));
    total += weight;
    first[0] += weight * mu;
    second[0] += weight * (mu * mu + 1 / precision);
    first[1] += weight * tau;
    second[1] += weight * tau * tau;
    for (std::size_t j = 0; j < 8; ++j) {
      // theta[j] given mu and tau is N(mean, variance), with a mean linear in mu.
      double const error = school::errors[j] * school::errors[j], share = tau * tau / (tau * tau + error);
      double const mean = share * school::effects[j] + (1 - share) * mu;
      double const variance = share * error + (1 - share) * (1 - share) / precision;
      first[j + 2] += weight * mean;
      second[j + 2] += weight * (mean * mean + variance);
    }
  }
  std::vector<moments> all;
  for (std::size_t i = 0; i < 10; ++i) {
    double const mean = first[i] / total;
    all.push_back({mean, std::sqrt(second[i] / total - mean * mean)});
  }
  return all;
}

} // namespace

TEST_CASE("NUTS on a Gaussian of ten correlated coordinates has correct means, deviations, covariances, "
          "quantiles") {
  draws const d = sample(targets::correlated_normal{}, {.seed = 7});
  CHECK(d.divergences() == 0);
  for (std::size_t i = 0; i < 10; ++i) {
    chain_values const x = d.column("q." + std::to_string(i + 1));
    double const sd = static_cast<double>(i + 1);
    INFO(i);
    CHECK(distance(x, {0, sd}) < 4);
    CHECK(rhat(x) < 1.01);
    CHECK(ess_bulk(x) > 1000);
    double const q95 = diagnosing::quantile(x.values, 0.95);
    CHECK(std::abs(q95 - 1.6448536269514722 * sd) < 4 * mcse_quantile(x, 0.95));
  }
  chain_values products = d.column("q.1");
  chain_values const other = d.column("q.3");
  for (std::size_t i = 0; i < products.values.size(); ++i) products.values[i] *= other.values[i];
  CHECK(std::abs(diagnosing::mean(products.values) - 3 * 0.49) < 4 * mcse_mean(products));
  // The step size was adapted to the acceptance, and the metric to the variances.
  CHECK(diagnosing::mean(d.column("accept_stat__").values) == Approx(0.85).margin(0.1));
  CHECK(d.record(0).metric == "diag_e");
  CHECK(d.record(0).inverse_metric[9] == Approx(100).epsilon(0.5));
  for (std::size_t c = 0; c < 4; ++c) CHECK(ebfmi(d.column("energy__").chain(c)) > 0.5);
  CHECK(summary(d).warnings().empty());
}

TEST_CASE("energies are minus the log density and a chi-square of kinetic energy") {
  draws const d = sample(targets::correlated_normal{}, {.seed = 8});
  chain_values kinetic = d.column("energy__");
  chain_values const log_density = d.column("lp__");
  for (std::size_t i = 0; i < kinetic.values.size(); ++i) kinetic.values[i] += log_density.values[i];
  // At a draw of a trajectory, momenta are Gaussian: p'p / 2 has mean 5 and variance 5.
  CHECK(distance(kinetic, {5, std::sqrt(5.0)}) < 4);
}

TEST_CASE("the tree depth is small for a sphere, and at most max_depth for a needle") {
  draws const sphere = sample(targets::standard_normal{10}, {.chains = 1, .seed = 1});
  CHECK(std::ranges::max(sphere.column("treedepth__").values) <= 3);
  CHECK(std::ranges::max(sphere.column("n_leapfrog__").values) <= 15);
  draws const needle = sample(
      targets::correlated_normal{2, 0.9999}, {.chains = 1, .warmup = 200, .draws = 200},
      nuts_settings{.max_depth = 4});
  CHECK(std::ranges::max(needle.column("treedepth__").values) == 4);
  CHECK(std::ranges::max(needle.column("n_leapfrog__").values) == 15);
}

TEST_CASE("divergences in the funnel are reported, with a warning") {
  draws const d = sample(targets::funnel{}, {.seed = 1});
  CHECK(d.divergences() > 20);
  summary const s(d);
  CHECK(s.divergences() == d.divergences());
  REQUIRE_FALSE(s.warnings().empty());
  CHECK(s.warnings()[0].find("transitions ended in divergences") != std::string::npos);
}

TEST_CASE("points of a NaN log density are rejected and counted, and the first one is reported") {
  struct half { // half of a normal density, NaN beyond
    std::size_t dimension() const { return 2; }
    double operator()(std::span<double const> q, std::span<double> gradient) const {
      for (std::size_t i = 0; i < 2; ++i) gradient[i] = -q[i];
      return q[0] > 0.5 ? std::nan("") : -0.5 * (q[0] * q[0] + q[1] * q[1]);
    }
  };
  sampling_settings const settings{
      .chains = 2, .warmup = 200, .draws = 500, .seed = 1, .initial_radius = 0.4};
  auto const check = [](draws const& d) {
    summary const s(d);
    CHECK(s["q.1"].q95 < 0.5);
    CHECK((s.undefined() > 20 && s.undefined() <= s.divergences()));
    CHECK(s.undefined() == d.totals(0).undefined() + d.totals(1).undefined());
    std::string const text = std::to_string(s.undefined()) +
                             " of 1000 transitions met a log density that is NaN, and did not go there: at (";
    CHECK(std::ranges::any_of(s.warnings(), [&](std::string const& w) { return w.starts_with(text); }));
    for (std::size_t c = 0; c < 2; ++c) { // of a transition after the warm-up, whose trajectory is short
      double at = 0;
      REQUIRE(std::sscanf(d.record(c).undefined_point.c_str(), "at (%lg, ", &at) == 1);
      CHECK((at > 0.5 && at < 10));
    }
  };
  check(sample(half{}, settings));
  check(sample(half{}, settings, hmc_settings{.leapfrog_steps = 8}));
}

TEST_CASE("a warning mentions a wrong gradient as a possible cause") {
  struct flat_gradient {
    std::size_t dimension() const { return 1; }
    double operator()(std::span<double const> q, std::span<double> gradient) const {
      gradient[0] = 0;
      return -0.5 * q[0] * q[0];
    }
  };
  summary const s(sample(flat_gradient{}, {.chains = 1, .warmup = 0, .draws = 100, .step_size = 1e-3}));
  CHECK(s.saturations() > 50);
  CHECK(std::ranges::any_of(s.warnings(), [](std::string const& w) {
    return w.ends_with("cut short, or the gradient is not that of the log density");
  }));
}

TEST_CASE("the posterior of the eight schools is that of numerical integration") {
  std::vector<moments> const exact = eight_schools_moments();
  CHECK(exact[0].mean == Approx(4.4).margin(0.1)); // the published value
  CHECK(exact[1].mean == Approx(3.6).margin(0.1));
  sampling_settings settings{.draws = 2500, .seed = 3};
  settings.adaptation.target_acceptance = 0.95;
  draws const d = sample(targets::eight_schools{}, settings);
  REQUIRE(d.names().size() == 10);
  for (std::size_t i = 0; i < 10; ++i) {
    INFO(d.names()[i]);
    CHECK(distance(d.column(d.names()[i]), exact[i]) < 4);
  }
  CHECK(d.divergences() < 10);
  CHECK(summary(d)["theta.1"].ess_bulk > 2000);
}

TEST_CASE("a larger target acceptance leads to smaller steps, and is reached") {
  double before = 1e9;
  for (double const target : {0.6, 0.8, 0.95}) {
    sampling_settings settings{.chains = 2, .seed = 4};
    settings.adaptation.target_acceptance = target;
    draws const d = sample(targets::correlated_normal{}, settings);
    CHECK(diagnosing::mean(d.column("accept_stat__").values) > target - 0.05);
    CHECK(d.record(0).step_size < before);
    before = d.record(0).step_size;
  }
}

TEST_CASE("static HMC has the same moments, and adapts its step size") {
  draws const d =
      sample(targets::correlated_normal{4}, {.seed = 5}, hmc_settings{.leapfrog_steps = 8, .jitter = 0.3});
  for (std::size_t i = 0; i < 4; ++i)
    CHECK(distance(d.column("q." + std::to_string(i + 1)), {0, static_cast<double>(i + 1)}) < 4);
  CHECK(d.column("n_leapfrog__").values[0] == 8);
}

TEST_CASE("without warm-up, step size and metric are those of the settings") {
  draws const d = sample(
      targets::standard_normal{2},
      {.chains = 1, .warmup = 0, .draws = 10, .step_size = 0.125, .inverse_metric = {1, 2}});
  CHECK(d.size() == 10);
  CHECK(d.record(0).inverse_metric == std::vector<double>{1, 2});
  for (double const s : d.column("stepsize__").values) CHECK(s == 0.125);
}

TEST_CASE("a target may have no coordinates, and a run no chains") {
  CHECK(sample(targets::standard_normal{0}, {.chains = 2, .warmup = 30, .draws = 5}).size() == 10);
  CHECK(summary(sample(targets::standard_normal{1}, {.chains = 0})).rows().size() == 2);
}

TEST_CASE("thinning keeps one draw in `thin`") {
  sampling_settings settings{.chains = 1, .warmup = 50, .draws = 10};
  draws const all = sample(targets::standard_normal{1}, settings);
  settings.thin = 4;
  draws const some = sample(targets::standard_normal{1}, settings);
  REQUIRE(some.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) CHECK(some.values(0, i)[0] == all.values(0, 4 * i)[0]);
}
