// hmc: static Hamiltonian Monte Carlo, with a fixed number of leapfrog steps.
#pragma once

#include <overdub/core/floating_point.hpp>
#include <overdub/core/library.hpp>
#include <overdub/inference/hamiltonian.hpp>
#include <overdub/random.hpp>

#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace overdub::inference {

template <target T, metric M>
class hmc;

/// Settings of `hmc`. The jitter, from 0 to below 1: each transition's step size is drawn uniformly from step_size (1 - jitter, 1 +
/// jitter), lest all trajectories have a length that is a period of the target.
struct hmc_settings {
  static constexpr std::string_view name = "static";
  int leapfrog_steps = 16;
  double jitter = 0;

  /// The settings in files of draws.
  std::vector<std::pair<std::string, double>> parameters() const {
    return {{"leapfrog_steps", leapfrog_steps}, {"stepsize_jitter", jitter}};
  }
  /// Throws inference_error for invalid settings.
  void check() const;
  template <target T, metric M>
  using sampler = hmc<T, M>;
};

/// A chain of static Hamiltonian Monte Carlo (Neal 2011, "MCMC using Hamiltonian dynamics"). A transition evaluates the target
/// leapfrog_steps times, or until the log density or its gradient is not finite; then it is rejected. It allocates nothing.
template <target T, metric M = diagonal_metric>
class hmc : public hamiltonian_chain<T, M> {
  using base = hamiltonian_chain<T, M>;

public:
  hmc(T density, M with, hmc_settings const& settings = {})
      : base(std::move(density), std::move(with)), settings_(settings) {
    settings_.check();
  }

  /// One transition, which leaves the target invariant. Throws inference_error unless the chain was started.
  template <bit_generator G>
  sampler_statistics transition(G& generator) {
    this->require_start();
    double step = this->step_size_;
    if (settings_.jitter > 0) step *= 1 + settings_.jitter * (2 * drawing::uniform(generator) - 1);
    phase_point& z = this->trial_;
    z = this->current_;
    this->hamiltonian_.draw_momentum(z, generator);
    double const before = this->hamiltonian_.energy(z);
    int steps = 0;
    this->undefined_ = false;
    bool has_finite_density = true;
    for (; has_finite_density && steps < settings_.leapfrog_steps; ++steps) {
      this->hamiltonian_.leapfrog(z, step);
      this->check_defined(z);
      has_finite_density = this->hamiltonian_.has_finite_density(z);
    }
    double const after =
        has_finite_density ? this->hamiltonian_.energy(z) : std::numeric_limits<double>::infinity();

    double const probability = after > before ? std::exp(before - after) : 1;
    bool const accepted = drawing::uniform(generator) < probability;
    if (accepted) std::swap(this->current_, z);
    return {
        .log_density = this->current_.log_density,
        .accept_statistic = probability,
        .step_size = step,
        .tree_depth = 0,
        .leapfrog_steps = steps,
        .divergent = after - before > base::divergence_threshold,
        .energy = accepted ? after : before,
        .undefined = this->undefined_};
  }

private:
  hmc_settings settings_;
};

} // namespace overdub::inference
