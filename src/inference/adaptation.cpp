#include <overdub/inference/adaptation.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <random>
#include <vector>

namespace overdub::inference {

void dual_averaging::restart(double step) {
  centre_ = std::log(10 * step);
  count_ = error_ = 0;
  log_step_ = log_average_ = std::log(step);
}

void dual_averaging::learn(double acceptance) {
  ++count_;
  double const a = !overdub::is_nan(acceptance) && acceptance >= 0 ? std::min(acceptance, 1.0) : 0.0;
  double const weight = 1 / (count_ + settings_.t0);
  error_ = (1 - weight) * error_ + weight * (settings_.target_acceptance - a);
  log_step_ = centre_ - error_ * std::sqrt(count_) / settings_.gamma;
  double const part = std::pow(count_, -settings_.kappa);
  log_average_ = part * log_step_ + (1 - part) * log_average_;
}

window_schedule::window_schedule(std::size_t iterations, adaptation_settings const& settings) {
  if (iterations < 20) return;
  std::size_t first = settings.first_buffer, window = settings.window, last = settings.last_buffer;
  if (first + window + last > iterations) {
    first = iterations * 15 / 100;
    last = iterations / 10;
    window = iterations - first - last;
  }
  std::size_t const stop = iterations - last;
  begin_ = first;
  for (std::size_t end = first + window; window > 0; end += window) {
    if (end > stop) end = stop;
    ends_.push_back(end);
    if (end == stop) break;
    window *= 2;
    // If another window would not fit after the next one, the next one extends to the end.
    if (end + 3 * window > stop) window = stop - end;
  }
}

} // namespace overdub::inference
