#include <overdub/inference/particles.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <limits>
#include <random>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace overdub::inference {

double log_sum_exp(std::span<double const> x) {
  double greatest = -std::numeric_limits<double>::infinity();
  for (double const v : x) {
    if (overdub::is_nan(v)) return v;
    greatest = std::max(greatest, v);
  }
  if (overdub::is_infinite(greatest)) return greatest;
  double sum = 0;
  for (double const v : x) sum += std::exp(v - greatest);
  return greatest + std::log(sum);
}

normalised_weights normalise(std::span<double const> log_weights) {
  normalised_weights result{.values = {log_weights.begin(), log_weights.end()}};
  std::size_t none = 0;
  for (double& w : result.values) {
    if (overdub::is_nan(w)) {
      ++result.not_a_number;
      w = -std::numeric_limits<double>::infinity();
    }
    none += w == -std::numeric_limits<double>::infinity();
    if (w == std::numeric_limits<double>::infinity())
      throw inference_error(message("overdub: a log weight is infinite: densities of draws must be finite"));
  }
  if (none == result.values.size())
    throw inference_error(message(
        "overdub: no draw of %zu has a weight: log weights are NaN %zu times, and else -infinity; what was "
        "observed cannot be, or more draws are needed",
        result.values.size(), result.not_a_number));
  // By the greatest weight, and not by the logarithm of the sum, which is rounded to the precision of the greatest one.
  double const greatest = *std::ranges::max_element(result.values);
  double sum = 0, squares = 0;
  for (double& w : result.values) sum += w = std::exp(w - greatest);
  for (double& w : result.values) {
    w /= sum;
    squares += w * w;
  }
  result.log_sum = greatest + std::log(sum);
  result.effective_size = 1 / squares;
  return result;
}

} // namespace overdub::inference

namespace overdub::inference::resampled {

void check(resampling scheme) {
  switch (scheme) {
  case resampling::systematic:
  case resampling::stratified:
  case resampling::multinomial:
  case resampling::residual:
    return;
  }
  throw inference_error(message(
      "overdub: scheme = %d: it is systematic, stratified, multinomial or residual",
      static_cast<int>(scheme)));
}

std::vector<double>
select_whole_copies(std::span<double const> weights, std::size_t count, std::vector<std::size_t>& out) {
  auto const n = static_cast<double>(count);
  std::vector<double> rest(weights.begin(), weights.end());
  double sum = 0;
  for (std::size_t k = 0; k < rest.size(); ++k) {
    double const copies = std::floor(n * rest[k]);
    out.insert(out.end(), static_cast<std::size_t>(copies), k);
    sum += rest[k] = n * rest[k] - copies;
  }
  out.resize(std::min(out.size(), count));
  for (double& r : rest) r /= sum;
  return rest;
}
void sort(std::vector<std::size_t>& all) { std::ranges::sort(all); }

void check(resampling scheme, std::span<double const> weights) {
  check(scheme);
  if (weights.empty())
    throw inference_error(message("overdub: indices are drawn by weights, of which there are none"));
}

} // namespace overdub::inference::resampled
