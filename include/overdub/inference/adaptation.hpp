// Adaptation in the warm-up: the step size by dual averaging, the metric in windows of doubling length, on Stan's schedule.
#pragma once

#include <overdub/core/floating_point.hpp>
#include <overdub/core/library.hpp>
#include <overdub/inference/metric.hpp>
#include <overdub/inference/target.hpp>
#include <overdub/random.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace overdub::inference {

/// Settings of adaptation; the defaults are Stan's.
struct adaptation_settings {
  double target_acceptance = 0.8; ///< the target of accept_stat__
  double gamma = 0.05;            ///< regularisation scale towards ten times the initial step size
  double kappa = 0.75;            ///< relaxation exponent of the average
  double t0 = 10;                 ///< iteration offset, which damps the first iterations
  std::size_t first_buffer = 75;  ///< iterations before the first window
  std::size_t window = 25;        ///< iterations of the first window
  std::size_t last_buffer = 50;   ///< iterations after the last window
};

/// Dual averaging of the logarithm of the step size (Hoffman and Gelman 2014, section 3.2).
class dual_averaging {
public:
  explicit dual_averaging(adaptation_settings const& settings) : settings_(settings) {}

  /// Restarts at a step size.
  void restart(double step);
  /// Updates by the acceptance statistic of an iteration; NaN counts as 0. `step_size` is that of the next iteration.
  void learn(double acceptance);
  double step_size() const { return std::exp(log_step_); }
  /// The averaged step size, for sampling.
  double averaged() const { return std::exp(log_average_); }

private:
  adaptation_settings settings_;
  double centre_ = 0, count_ = 0, error_ = 0, log_step_ = 0, log_average_ = 0;
};

/// The schedule of metric adaptation in the warm-up: windows, each twice as long as the one before, between two buffers (Stan Reference
/// Manual, "MCMC sampling", automatic parameter tuning). If the warm-up is shorter than two buffers and a window, 15 % of the iterations
/// are the first buffer and 10 % the last. A warm-up of less than 20 iterations does not adapt the metric.
class window_schedule {
public:
  window_schedule(std::size_t iterations, adaptation_settings const& settings);

  /// Iterations count from 0.
  bool learns(std::size_t iteration) const {
    return !ends_.empty() && iteration >= begin_ && iteration < ends_.back();
  }
  bool ends_window(std::size_t iteration) const {
    return std::ranges::find(ends_, iteration + 1) != ends_.end();
  }
  /// One past the last iteration of each window.
  std::vector<std::size_t> const& ends() const { return ends_; }

private:
  std::size_t begin_ = 0;
  std::vector<std::size_t> ends_;
};

/// The adaptation of one chain, of the type `S` of `nuts` or `hmc`: `begin`, `learn` after each iteration of the warm-up, `finish`.
template <class S, metric M>
class adaptation {
public:
  adaptation(S& chain, std::size_t iterations, adaptation_settings const& settings)
      : chain_(chain), schedule_(iterations, settings), average_(settings), estimator_(chain.dimension()) {}

  template <bit_generator G>
  void begin(G& generator) {
    find_step_size(generator);
  }
  template <bit_generator G>
  void learn(double acceptance, G& generator) {
    average_.learn(acceptance);
    chain_.set_step_size(average_.step_size());
    if (schedule_.learns(iteration_)) {
      estimator_.add(chain_.position());
      if (schedule_.ends_window(iteration_)) {
        chain_.metric().adapt(estimator_);
        estimator_.restart();
        find_step_size(generator);
      }
    }
    ++iteration_;
  }
  void finish() { chain_.set_step_size(average_.averaged()); }

private:
  template <class G>
  void find_step_size(G& generator) {
    chain_.find_step_size(generator);
    average_.restart(chain_.step_size());
  }

  S& chain_;
  window_schedule schedule_;
  dual_averaging average_;
  typename M::estimator estimator_;
  std::size_t iteration_ = 0;
};

} // namespace overdub::inference
