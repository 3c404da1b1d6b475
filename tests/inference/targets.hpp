// Densities whose moments are known, for tests of samplers.
#pragma once

#include <cmath>
#include <cstddef>
#include <numbers>
#include <span>
#include <string>
#include <vector>

namespace targets {

struct standard_normal {
  std::size_t n = 1;
  std::size_t dimension() const { return n; }
  double operator()(std::span<double const> q, std::span<double> gradient) const {
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) {
      gradient[i] = -q[i];
      sum += q[i] * q[i];
    }
    return -0.5 * sum;
  }
};

// q[i] = (i + 1) z[i] for a stationary autoregressive series z of coefficient rho and variance 1: the covariance of q[i] and q[j] is
// (i + 1) (j + 1) rho^|i - j|.
struct correlated_normal {
  std::size_t n = 10;
  double rho = 0.7;
  std::size_t dimension() const { return n; }
  double operator()(std::span<double const> q, std::span<double> gradient) const {
    double const rest = 1 - rho * rho;
    double log_density = 0, before = 0;
    for (std::size_t i = 0; i < n; ++i) {
      double const scale = static_cast<double>(i + 1), z = q[i] / scale;
      double const variance = i == 0 ? 1 : rest, error = z - (i == 0 ? 0 : rho * before);
      log_density -= 0.5 * error * error / variance;
      gradient[i] = -error / variance / scale;
      if (i > 0) gradient[i - 1] += rho * error / variance / static_cast<double>(i);
      before = z;
    }
    return log_density;
  }
};

// Neal's funnel: q[0] has deviation 3, and the others exp(q[0] / 2).
struct funnel {
  std::size_t n = 10;
  std::size_t dimension() const { return n; }
  double operator()(std::span<double const> q, std::span<double> gradient) const {
    double const v = q[0], precision = std::exp(-v);
    double log_density = -v * v / 18;
    gradient[0] = -v / 9;
    for (std::size_t i = 1; i < n; ++i) {
      log_density -= 0.5 * q[i] * q[i] * precision + 0.5 * v;
      gradient[0] += 0.5 * q[i] * q[i] * precision - 0.5;
      gradient[i] = -q[i] * precision;
    }
    return log_density;
  }
};

// Rubin's eight schools (Rubin 1981; Gelman et al., "Bayesian data analysis", section 5.5), not centred, with the priors of
// posteriordb: mu ~ N(0, 5), tau ~ half-Cauchy(0, 5), theta = mu + tau eta. q is mu, log(tau), eta.
struct eight_schools {
  static constexpr double effects[] = {28, 8, -3, 7, -1, 1, 18, 12};
  static constexpr double errors[] = {15, 10, 16, 11, 9, 11, 10, 18};

  std::size_t dimension() const { return 10; }
  double operator()(std::span<double const> q, std::span<double> gradient) const {
    double const mu = q[0], tau = std::exp(q[1]), ratio = tau * tau / 25;
    double log_density = -0.5 * mu * mu / 25 - std::log1p(ratio) + q[1];
    gradient[0] = -mu / 25;
    gradient[1] = 1 - 2 * ratio / (1 + ratio);
    for (std::size_t j = 0; j < 8; ++j) {
      double const eta = q[j + 2], error = (effects[j] - mu - tau * eta) / errors[j];
      log_density -= 0.5 * (eta * eta + error * error);
      gradient[0] += error / errors[j];
      gradient[1] += error / errors[j] * tau * eta;
      gradient[j + 2] = -eta + error / errors[j] * tau;
    }
    return log_density;
  }
  std::vector<std::string> names() const {
    std::vector<std::string> all = {"mu", "tau"};
    for (int j = 1; j <= 8; ++j) all.push_back("theta." + std::to_string(j));
    return all;
  }
  void report(std::span<double const> q, std::span<double> out) const {
    out[0] = q[0];
    out[1] = std::exp(q[1]);
    for (std::size_t j = 0; j < 8; ++j) out[j + 2] = q[0] + out[1] * q[j + 2];
  }
};

} // namespace targets
