// The base of Hamiltonian samplers: points of phase space, the leapfrog integrator, and the chain's state.
#pragma once

#include <overdub/core/exact_math.hpp>
#include <overdub/core/floating_point.hpp>
#include <overdub/inference/metric.hpp>
#include <overdub/inference/target.hpp>
#include <overdub/io/number_text.hpp>
#include <overdub/random.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace overdub::inference {

/// The statistics of a transition. Energies have the units of the log density.
struct sampler_statistics {
  double log_density = 0;      ///< at the draw
  double accept_statistic = 0; ///< the acceptance probability, averaged over the evaluated points
  double step_size = 0;
  int tree_depth = 0; ///< of NUTS: the number of doublings of the trajectory
  int leapfrog_steps = 0;
  bool divergent = false; ///< the integrator's energy error was greater than the threshold
  double energy = 0;      ///< the Hamiltonian at the draw
  bool saturated = false; ///< of NUTS: the trajectory reached the maximum tree depth
  bool undefined = false; ///< the log density was NaN at an evaluated point; the transition is divergent, too
};

/// A point of phase space. `gradient` and `log_density` belong to `position`, `velocity` to `momentum`.
struct phase_point {
  std::vector<double> position, momentum, gradient, velocity;
  double log_density = -std::numeric_limits<double>::infinity();

  explicit phase_point(std::size_t dimension)
      : position(dimension), momentum(dimension), gradient(dimension), velocity(dimension) {}
};

/// The Hamiltonian of a target and a metric: H = -log density + p'Σp / 2.
template <target T, metric M>
class hamiltonian {
public:
  hamiltonian(T density, M with) : density_(std::move(density)), metric_(std::move(with)) {
    if (metric_.dimension() != static_cast<std::size_t>(density_.dimension()))
      throw inference_error(message(
          "overdub: a metric of dimension %zu for a target of dimension %zu", metric_.dimension(),
          static_cast<std::size_t>(density_.dimension())));
  }

  T& density() { return density_; }
  T const& density() const { return density_; }
  M& metric() { return metric_; }
  M const& metric() const { return metric_; }
  std::size_t dimension() const { return metric_.dimension(); }

  /// Evaluates the log density and its gradient at the position.
  void evaluate(phase_point& z) { z.log_density = density_(std::as_const(z.position), z.gradient); }
  /// Whether the log density and its gradient are finite: samplers reject other points.
  static bool has_finite_density(phase_point const& z) {
    return overdub::is_finite(z.log_density) &&
           std::ranges::all_of(z.gradient, [](double g) { return overdub::is_finite(g); });
  }
  template <bit_generator G>
  void draw_momentum(phase_point& z, G& generator) const {
    metric_.draw_momentum(generator, z.momentum);
  }
  /// Computes the velocity, and returns H; infinity if H is not finite, so that samplers reject the point.
  double energy(phase_point& z) const {
    metric_.velocity(z.momentum, z.velocity);
    double twice = 0;
    for (std::size_t i = 0; i < dimension(); ++i) twice += z.momentum[i] * z.velocity[i];
    double const h = 0.5 * twice - z.log_density;
    return overdub::is_finite(h) ? h : std::numeric_limits<double>::infinity();
  }
  /// One leapfrog step, backwards in time for a negative step: half a step of the momentum, a step of the position, half a step of
  /// the momentum. Reversible and volume-preserving; its energy error over a fixed time is of second order in the step.
  void leapfrog(phase_point& z, double step) {
    kick(z, 0.5 * step);
    metric_.velocity(z.momentum, z.velocity);
    for (std::size_t i = 0; i < dimension(); ++i) z.position[i] += step * z.velocity[i];
    evaluate(z);
    kick(z, 0.5 * step);
  }

private:
  void kick(phase_point& z, double step) const {
    for (std::size_t i = 0; i < dimension(); ++i) z.momentum[i] += step * z.gradient[i];
  }

  T density_;
  M metric_;
};

/// The state of a chain: its position, step size and Hamiltonian. `hmc` and `nuts` add `transition`.
template <target T, metric M>
class hamiltonian_chain {
public:
  hamiltonian_chain(T density, M with)
      : hamiltonian_(std::move(density), std::move(with)), current_(hamiltonian_.dimension()),
        trial_(current_) {}

  std::size_t dimension() const { return hamiltonian_.dimension(); }
  std::span<double const> position() const { return current_.position; }
  double log_density() const { return current_.log_density; }
  T& density() { return hamiltonian_.density(); }
  M& metric() { return hamiltonian_.metric(); }
  double step_size() const { return step_size_; }
  void set_step_size(double step) { step_size_ = step; }
  /// A description of the first point where a transition evaluated a log density that is NaN; empty, if there was none since
  /// `forget_undefined_point`.
  std::string const& undefined_point() const { return undefined_point_; }
  void forget_undefined_point() { undefined_point_.clear(); }

  /// Sets the position to q. Returns false if the log density or its gradient is not finite: no transition can begin there.
  [[nodiscard]] bool start(std::span<double const> q) {
    started_ = false;
    std::ranges::copy(q, current_.position.begin());
    hamiltonian_.evaluate(current_);
    return started_ = hamiltonian<T, M>::has_finite_density(current_);
  }
  /// Why `start` returned false.
  inference_error failure() const {
    if constexpr (requires {
                    hamiltonian_.density().improper_choice(std::span<double const>(current_.position));
                  })
      if (std::string const why = hamiltonian_.density().improper_choice(current_.position); !why.empty())
        return inference_error(message(
            "overdub: the log density is %g where the chain begins: %.200s", current_.log_density,
            why.c_str()));
    if (!overdub::is_finite(current_.log_density))
      return inference_error(message(
          "overdub: the log density is %g where the chain begins: begin where it is finite, or mend the "
          "target",
          current_.log_density));
    std::size_t i = 0;
    while (i + 1 < current_.gradient.size() && overdub::is_finite(current_.gradient[i])) ++i;
    return inference_error(message(
        "overdub: element %zu of the log density's gradient is %g where the chain begins, and the log "
        "density %g: begin "
        "where both are finite, or mend the target",
        i + 1, current_.gradient[i], current_.log_density));
  }

  /// Doubles or halves the step size until the acceptance of one step crosses 0.8 (Hoffman and Gelman 2014, algorithm 4, with
  /// Stan's 0.8 for their 0.5). Throws inference_error if there is no such step size, or if the chain
  /// was not started.
  template <bit_generator G>
  void find_step_size(G& generator) {
    require_start();
    if (dimension() == 0) return;
    bool first = true, growing = false;
    while (true) {
      trial_ = current_;
      hamiltonian_.draw_momentum(trial_, generator);
      double const before = hamiltonian_.energy(trial_);
      hamiltonian_.leapfrog(trial_, step_size_);
      bool const accepted = before - hamiltonian_.energy(trial_) > std::log(0.8);
      if (first) growing = accepted;
      if (accepted != growing) return;
      first = false;
      step_size_ *= growing ? 2 : 0.5;
      if (step_size_ > 1e7)
        throw inference_error(message(
            "overdub: the log density does not fall, however far a step goes: the target is improper"));
      if (step_size_ < 1e-300)
        throw inference_error(message("overdub: no step is accepted, however small: the target is not "
                                      "continuous, or the gradient is not its own"));
    }
  }

protected:
  // A larger energy error is a divergence, as in Stan.
  static constexpr double divergence_threshold = 1000;

  void require_start() const {
    if (!started_)
      throw inference_error(message(
          "overdub: a chain goes on that did not begin: call `start` before, and only where it returns true "
          "a transition"));
  }

  // Records an undefined point. A transition must call it for each point that it evaluates.
  void check_defined(phase_point const& z) {
    if (overdub::is_nan(z.log_density)) [[unlikely]]
      record_undefined_point(z);
  }

  hamiltonian<T, M> hamiltonian_;
  phase_point current_, trial_;
  double step_size_ = 1;
  bool undefined_ = false; // check_defined found a log density that is NaN

private:
  [[gnu::noinline]] void record_undefined_point(phase_point const& z) {
    undefined_ = true;
    if (!undefined_point_.empty()) return;
    if constexpr (requires { hamiltonian_.density().improper_choice(std::span<double const>(z.position)); })
      undefined_point_ = hamiltonian_.density().improper_choice(z.position);
    if (!undefined_point_.empty()) return;
    for (std::size_t i = 0; i < z.position.size() && i < 4; ++i) {
      undefined_point_ += i == 0 ? "at (" : ", ";
      io::append_number(undefined_point_, z.position[i], io::significant(6));
    }
    undefined_point_ += z.position.size() > 4 ? ", ...)" : ")";
  }

  std::string undefined_point_;
  bool started_ = false;
};

} // namespace overdub::inference
