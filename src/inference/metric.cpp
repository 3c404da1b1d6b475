#include <overdub/core/floating_point.hpp>
#include <overdub/inference/metric.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

namespace overdub::inference {

diagonal_metric::diagonal_metric(std::size_t dimension, std::span<double const> inverse)
    : inverse_(inverse.begin(), inverse.end()), deviation_(inverse.size()) {
  if (inverse.size() != dimension)
    throw inference_error(message(
        "overdub: an inverse metric of %zu elements for a target of dimension %zu: give a diagonal metric "
        "one for each "
        "coordinate",
        inverse.size(), dimension));
  for (std::size_t i = 0; i < dimension; ++i)
    if (!(inverse[i] > 0) || !overdub::is_finite(inverse[i]))
      throw inference_error(message(
          "overdub: element %zu of the inverse metric is %g: variances are positive and finite", i + 1,
          inverse[i]));
  scale();
}

void diagonal_metric::estimator::restart() {
  count_ = 0;
  std::ranges::fill(mean_, 0.0);
  std::ranges::fill(squares_, 0.0);
}

void diagonal_metric::adapt(estimator const& e) {
  double const n = e.count();
  for (std::size_t i = 0; i < inverse_.size(); ++i) {
    double const v = n / (n + 5) * e.variance(i) + 1e-3 * (5 / (n + 5));
    if (overdub::is_finite(v)) inverse_[i] = v;
  }
  scale();
}

void diagonal_metric::scale() {
  for (std::size_t i = 0; i < inverse_.size(); ++i) deviation_[i] = std::sqrt(inverse_[i]);
}

} // namespace overdub::inference
