// nuts: the no-U-turn sampler (Hoffman and Gelman, 2014), as Stan implements it: Hamiltonian Monte Carlo whose trajectories double until
// they make a U-turn.
#pragma once

#include <overdub/core/floating_point.hpp>
#include <overdub/inference/hamiltonian.hpp>
#include <overdub/random.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace overdub::inference {

template <target T, metric M>
class nuts;

/// Settings of `nuts`: a trajectory doubles at most max_depth times, to 2^max_depth - 1 steps.
struct nuts_settings {
  static constexpr std::string_view name = "nuts";
  int max_depth = 10;

  /// The settings, as files of draws list them.
  std::vector<std::pair<std::string, double>> parameters() const { return {{"max_depth", max_depth}}; }
  /// Throws inference_error for invalid settings.
  void check() const {
    if (max_depth < 1 || max_depth > 30)
      throw inference_error(
          message("overdub: nuts of depth %d: a trajectory doubles from 1 to 30 times", max_depth));
  }
  template <target T, metric M>
  using sampler = nuts<T, M>;
};

/// A chain of the no-U-turn sampler (Hoffman and Gelman 2014), with multinomial sampling from the trajectory, biased towards its last
/// doubling, and the generalised U-turn criterion (Betancourt 2017, "A conceptual introduction to Hamiltonian Monte Carlo", appendix A),
/// which is checked for each subtree, and across the two halves of each (Stan Reference Manual, "MCMC sampling"). A transition allocates
/// nothing. Memory: 7 max_depth vectors.
template <target T, metric M = diagonal_metric>
class nuts : public hamiltonian_chain<T, M> {
  using base = hamiltonian_chain<T, M>;

public:
  nuts(T density, M with, nuts_settings const& settings = {})
      : base(std::move(density), std::move(with)), settings_(settings), trajectory_(this->dimension()),
        backward_(this->dimension()), forward_(backward_) {
    settings_.check();
    halves_.assign(static_cast<std::size_t>(settings_.max_depth), trajectory_);
  }

  /// One transition, which leaves the target invariant. Throws inference_error unless the chain was started.
  template <bit_generator G>
  sampler_statistics transition(G& generator) {
    this->require_start();
    this->hamiltonian_.draw_momentum(this->current_, generator);
    initial_energy_ = this->hamiltonian_.energy(this->current_);
    acceptance_ = 0;
    steps_ = 0;
    divergent_ = false;
    this->undefined_ = false;
    backward_ = this->current_;
    forward_ = this->current_;
    trajectory_.set(this->current_, initial_energy_, 0);

    int depth = 0;
    // The direction in time of the last doubling; true: the last point of trajectory_ is its latest.
    bool was_forward = true;
    while (depth < settings_.max_depth) {
      bool const is_forward = drawing::uniform(generator) < 0.5;
      if (is_forward != was_forward) trajectory_.reverse();
      was_forward = is_forward;
      segment& added = halves_[static_cast<std::size_t>(depth)];
      double const step = is_forward ? this->step_size_ : -this->step_size_;
      if (!build(depth, added, is_forward ? forward_ : backward_, step, generator)) break;
      ++depth;
      double const odds = added.log_weight - trajectory_.log_weight;
      if (odds > 0 || drawing::uniform(generator) < std::exp(odds)) trajectory_.take_sample(added);
      if (!trajectory_.append(added)) break;
    }

    std::swap(this->current_.position, trajectory_.position);
    std::swap(this->current_.gradient, trajectory_.gradient);
    this->current_.log_density = trajectory_.log_density;
    return {
        .log_density = this->current_.log_density,
        .accept_statistic = acceptance_ / steps_,
        .step_size = this->step_size_,
        .tree_depth = depth,
        .leapfrog_steps = steps_,
        .divergent = divergent_,
        .energy = trajectory_.energy,
        .saturated = depth == settings_.max_depth,
        .undefined = this->undefined_};
  }

private:
  // A segment of the trajectory, in the order of integration: the momenta and velocities of its ends, the sum of its momenta, and a point
  // that was sampled from it with weights exp(-H).
  struct segment {
    std::vector<double> first_momentum, first_velocity, last_momentum, last_velocity, sum;
    std::vector<double> position, gradient;
    double log_density = 0, energy = 0;
    double log_weight = 0; // of all points, relative to the initial one

    explicit segment(std::size_t n)
        : first_momentum(n), first_velocity(n), last_momentum(n), last_velocity(n), sum(n), position(n),
          gradient(n) {}

    void set(phase_point const& z, double h, double weight) {
      std::ranges::copy(z.momentum, first_momentum.begin());
      std::ranges::copy(z.momentum, last_momentum.begin());
      std::ranges::copy(z.momentum, sum.begin());
      std::ranges::copy(z.velocity, first_velocity.begin());
      std::ranges::copy(z.velocity, last_velocity.begin());
      std::ranges::copy(z.position, position.begin());
      std::ranges::copy(z.gradient, gradient.begin());
      log_density = z.log_density;
      energy = h;
      log_weight = weight;
    }
    void reverse() {
      std::swap(first_momentum, last_momentum);
      std::swap(first_velocity, last_velocity);
    }
    void take_sample(segment& other) {
      std::swap(position, other.position);
      std::swap(gradient, other.gradient);
      log_density = other.log_density;
      energy = other.energy;
    }
    // Appends a segment, without its sample. False if the whole makes a U-turn, or either half together with the nearest point of the other
    // half. Without these two further checks, a trajectory in a normal target that is half a period long may continue for many periods.
    bool append(segment& next) {
      bool const first_has_no_turn =
          has_no_turn(first_velocity, next.first_velocity, sum, next.first_momentum);
      bool const next_has_no_turn = has_no_turn(last_velocity, next.last_velocity, next.sum, last_momentum);
      bool const whole_has_no_turn = has_no_turn(first_velocity, next.last_velocity, sum, next.sum);
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += next.sum[i];
      std::swap(last_momentum, next.last_momentum);
      std::swap(last_velocity, next.last_velocity);
      double const larger = std::max(log_weight, next.log_weight),
                   smaller = std::min(log_weight, next.log_weight);
      if (overdub::is_finite(larger)) log_weight = larger + std::log1p(std::exp(smaller - larger));
      return first_has_no_turn && next_has_no_turn && whole_has_no_turn;
    }
    // Whether the velocities of both ends have a positive projection on a + b, the sum of the momenta between them.
    static bool has_no_turn(
        std::vector<double> const& u, std::vector<double> const& v, std::vector<double> const& a,
        std::vector<double> const& b) {
      double along_u = 0, along_v = 0;
      for (std::size_t i = 0; i < a.size(); ++i) {
        along_u += u[i] * (a[i] + b[i]);
        along_v += v[i] * (a[i] + b[i]);
      }
      return along_u > 0 && along_v > 0;
    }
  };

  // Builds a segment: integrates 2^depth steps from z. Returns false if they diverge or make a U-turn; the trajectory must then not append
  // it.
  template <class G>
  bool build(int depth, segment& made, phase_point& z, double step, G& generator) {
    if (depth == 0) {
      this->hamiltonian_.leapfrog(z, step);
      this->check_defined(z);
      double const h = this->hamiltonian_.energy(z), error = h - initial_energy_;
      ++steps_;
      acceptance_ += error > 0 ? std::exp(-error) : 1;
      made.set(z, h, -error);
      if (error > base::divergence_threshold) divergent_ = true;
      return !divergent_;
    }
    if (!build(depth - 1, made, z, step, generator)) return false;
    segment& second = halves_[static_cast<std::size_t>(depth - 1)];
    if (!build(depth - 1, second, z, step, generator)) return false;
    double const second_weight = second.log_weight;
    bool const has_no_turn = made.append(second);
    if (drawing::uniform(generator) < std::exp(second_weight - made.log_weight)) made.take_sample(second);
    return has_no_turn;
  }

  nuts_settings settings_;
  segment trajectory_;
  std::vector<segment> halves_; // one for each depth of the recursion of build
  phase_point backward_, forward_;
  double initial_energy_ = 0, acceptance_ = 0;
  int steps_ = 0;
  bool divergent_ = false;
};

} // namespace overdub::inference
