#include <overdub/core/floating_point.hpp>
#include <overdub/incremental/sum_errors.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace overdub::increments {

void sum_errors::resize(layout const& variables) {
  is_sum_.resize(variables.size());
  largest_magnitudes_.resize(variables.size());
  for (std::uint32_t k = 0; k < variables.size(); ++k)
    if (variables[k].what == variable::role::compensation) is_sum_[variables.of(variables[k].of)] = true;
}

double* sum_errors::largest_magnitude(std::uint32_t variable, std::size_t number, cells const& sums) {
  std::vector<double>& largest = largest_magnitudes_[variable];
  if (number >= largest.size()) largest.resize(std::max(number + 1, sums.bytes() / sums.size_of_scalar()));
  return &largest[number];
}

void sum_errors::check_finite(ir::scalar s, std::uint64_t bits) {
  if (s == ir::scalar::f64)
    must_recompute_all_ = must_recompute_all_ || !overdub::is_finite(std::bit_cast<double>(bits));
  else if (s == ir::scalar::f32)
    must_recompute_all_ =
        must_recompute_all_ || !overdub::is_finite(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
}

void sum_errors::were_recomputed() {
  must_recompute_all_ = false;
  commits_until_run_ = maximum_commits;
  for (auto& largest : largest_magnitudes_) std::fill(largest.begin(), largest.end(), 0.0);
}

void sum_errors::reserve(sum_errors const& other) {
  for (std::size_t k = 0; k < size(); ++k)
    largest_magnitudes_[k].reserve(other.largest_magnitudes_[k].size());
}
void sum_errors::assign(sum_errors const& other) {
  largest_magnitudes_ = other.largest_magnitudes_;
  commits_until_run_ = other.commits_until_run_;
  must_recompute_all_ = other.must_recompute_all_;
}

} // namespace overdub::increments
