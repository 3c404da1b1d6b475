#include <overdub/inference/variational.hpp>

#include <cmath>
#include <cstddef>
#include <numbers>
#include <span>
#include <utility>
#include <vector>

namespace overdub::inference {

mean_field::mean_field(std::vector<double> means, std::vector<double> sds)
    : means_(std::move(means)), sds_(std::move(sds)) {
  if (means_.size() != sds_.size())
    throw inference_error(message(
        "overdub: an approximation of %zu means and %zu deviations: give each mean one", means_.size(),
        sds_.size()));
  for (std::size_t i = 0; i < means_.size(); ++i)
    if (!overdub::is_finite(means_[i]) || !overdub::is_finite(sds_[i]) || !(sds_[i] > 0))
      throw inference_error(message(
          "overdub: coordinate %zu of an approximation has the mean %g and the deviation %g: both are "
          "finite, and the deviation is positive",
          i + 1, means_[i], sds_[i]));
}

std::vector<double> mean_field::draw(random_key const& key) const {
  random_generator generator(key);
  std::vector<double> q = means_;
  for (std::size_t i = 0; i < q.size(); ++i) q[i] += sds_[i] * drawing::normal(generator);
  return q;
}

double mean_field::log_density(std::span<double const> q) const {
  double sum = 0;
  for (std::size_t i = 0; i < means_.size(); ++i) {
    double const z = (q[i] - means_[i]) / sds_[i];
    sum -= 0.5 * (z * z + std::log(2 * std::numbers::pi)) + std::log(sds_[i]);
  }
  return sum;
}

} // namespace overdub::inference
