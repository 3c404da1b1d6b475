// Transitions leave their target invariant: after some transitions from exact draws, draws are exact. The same test finds planted mistakes
// of a sampler or a target.
#include "catch.hpp"
#include "inference/targets.hpp"

#include <overdub/inference/hmc.hpp>
#include <overdub/inference/nuts.hpp>

#include <boost/math/special_functions/gamma.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <random>
#include <span>
#include <vector>

namespace {

using namespace overdub::inference;

// q[0] is the logarithm of x ~ Gamma(2, 1), q[1] ~ N(q[0] / 2, 1). Without the Jacobian, x, of the logarithm it is another density.
struct log_gamma {
  bool with_jacobian = true;
  std::size_t dimension() const { return 2; }
  double operator()(std::span<double const> q, std::span<double> gradient) const {
    double const x = std::exp(q[0]), error = q[1] - 0.5 * q[0], power = with_jacobian ? 2 : 1;
    gradient[0] = power - x + 0.5 * error;
    gradient[1] = -error;
    return power * q[0] - x - 0.5 * error * error;
  }
};

double normal_cdf(double z) { return 0.5 * std::erfc(-z / std::sqrt(2.0)); }

// The Kolmogorov-Smirnov statistic, the greatest distance to the uniform distribution, times the root of the size: it exceeds 1.95
// once in a thousand times, 3.5 once in 10^10 times (Kolmogorov's limit, 2 exp(-2 x²)).
double kolmogorov(std::vector<double> u) {
  std::ranges::sort(u);
  auto const n = static_cast<double>(u.size());
  double greatest = 0;
  for (std::size_t i = 0; i < u.size(); ++i)
    greatest = std::max({greatest, u[i] - static_cast<double>(i) / n, static_cast<double>(i + 1) / n - u[i]});
  return greatest * std::sqrt(n);
}

// The maximum of the statistics of the two coordinates after three transitions from exact draws.
double deviation(auto chain, double step, int draws = 10000) {
  std::mt19937_64 generator(17);
  chain.set_step_size(step);
  std::vector<double> x, error;
  bool started = true;
  for (int i = 0; i < draws; ++i) {
    double const u = -std::log1p(-drawing::uniform(generator)) - std::log1p(-drawing::uniform(generator));
    std::vector<double> const q = {std::log(u), 0.5 * std::log(u) + drawing::normal(generator)};
    started = chain.start(q) && started;
    for (int k = 0; k < 3; ++k) (void)chain.transition(generator);
    x.push_back(boost::math::gamma_p(2.0, std::exp(chain.position()[0])));
    error.push_back(normal_cdf(chain.position()[1] - 0.5 * chain.position()[0]));
  }
  CHECK(started);
  return std::max(kolmogorov(x), kolmogorov(error));
}

// A mistake: accepts the end of each trajectory.
struct never_rejects : hamiltonian_chain<log_gamma, diagonal_metric> {
  using hamiltonian_chain::hamiltonian_chain;
  sampler_statistics transition(std::mt19937_64& generator) {
    hamiltonian_.draw_momentum(current_, generator);
    for (int i = 0; i < 3; ++i) hamiltonian_.leapfrog(current_, step_size_);
    return {};
  }
};

// A mistake: draws momenta that are too large for its kinetic energy.
struct wrong_momenta : diagonal_metric {
  using diagonal_metric::diagonal_metric;
  void draw_momentum(auto& generator, std::span<double> out) const {
    diagonal_metric::draw_momentum(generator, out);
    for (double& p : out) p *= 1.2;
  }
};

// The gradient of another density: less efficient, but correct, since the integrator is reversible, and acceptance uses the density.
struct wrong_gradient : log_gamma {
  double operator()(std::span<double const> q, std::span<double> gradient) const {
    double const value = log_gamma::operator()(q, gradient);
    gradient[0] *= 0.7;
    return value;
  }
};

diagonal_metric const unit(2);
std::vector<double> const uneven = {0.4, 1.5};

} // namespace

TEST_CASE("transitions of NUTS leave the target invariant, with small and large steps, and with a metric") {
  CHECK(deviation(nuts<log_gamma>(log_gamma{}, unit), 0.3) < 1.95);
  CHECK(deviation(nuts<log_gamma>(log_gamma{}, unit), 0.9) < 1.95);
  CHECK(deviation(nuts<log_gamma>(log_gamma{}, diagonal_metric(2, uneven)), 0.7) < 1.95);
  CHECK(deviation(nuts<log_gamma>(log_gamma{}, unit, {.max_depth = 2}), 0.3) < 1.95);
  CHECK(deviation(nuts<log_gamma>(log_gamma{}, unit, {.max_depth = 1}), 0.9) < 1.95);
  CHECK(deviation(nuts<wrong_gradient>(wrong_gradient{}, unit), 0.6) < 1.95);
}

TEST_CASE("transitions of static HMC leave the target invariant") {
  CHECK(deviation(hmc<log_gamma>(log_gamma{}, unit, {.leapfrog_steps = 1}), 1.1) < 1.95);
  CHECK(deviation(hmc<log_gamma>(log_gamma{}, unit, {.leapfrog_steps = 5}), 0.5) < 1.95);
  CHECK(
      deviation(
          hmc<log_gamma>(log_gamma{}, diagonal_metric(2, uneven), {.leapfrog_steps = 4, .jitter = 0.5}),
          0.7) < 1.95);
  CHECK(deviation(hmc<wrong_gradient>(wrong_gradient{}, unit, {.leapfrog_steps = 3}), 0.5) < 1.95);
}

TEST_CASE("the test of invariance detects planted mistakes") {
  CHECK(deviation(nuts<log_gamma>(log_gamma{.with_jacobian = false}, unit), 0.3) > 3.5);
  CHECK(deviation(hmc<log_gamma>(log_gamma{.with_jacobian = false}, unit, {.leapfrog_steps = 5}), 0.5) > 3.5);
  CHECK(deviation(never_rejects(log_gamma{}, unit), 0.9) > 3.5);
  CHECK(deviation(nuts<log_gamma, wrong_momenta>(log_gamma{}, wrong_momenta(2)), 0.3) > 3.5);
}
