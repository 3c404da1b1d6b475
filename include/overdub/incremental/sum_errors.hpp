// The rounding errors of saved sums, which updates change by differences.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/incremental/cells.hpp>
#include <overdub/incremental/update_program.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace overdub::increments {

/// Which saved values are sums that are updated by differences, and whether their rounding errors require that the next proposal recomputes
/// everything.
class sum_errors {
public:
  /// The number of commits after which everything is recomputed.
  static constexpr std::uint32_t maximum_commits = 1u << 20;

  /// Allocates what is known of values that are newly saved.
  void resize(layout const& variables);
  /// The number of saved values of which all is allocated.
  std::size_t size() const { return largest_magnitudes_.size(); }

  bool is_sum(std::uint32_t variable) const { return is_sum_[variable]; }
  /// The largest magnitude of a sum since it was last added up. `sums` is the saved value, and `number` the position of the sum in it.
  double* largest_magnitude(std::uint32_t variable, std::size_t number, cells const& sums);

  /// A saved sum was set to this number. If it is not finite, differences cannot update it.
  void check_finite(ir::scalar s, std::uint64_t bits);
  bool must_recompute_all() const { return must_recompute_all_; }
  void recompute_all_next() { must_recompute_all_ = true; }
  /// Counts a commit. Returns whether the rounding errors of all commits may add up to a visible one.
  bool count_commit() { return --commits_until_run_ == 0; }
  /// All sums were added up.
  void were_recomputed();

  /// Allocates memory for a copy of the state of another computation of the function; then `assign` does not allocate.
  void reserve(sum_errors const& other);
  void assign(sum_errors const& other);

private:
  std::vector<bool> is_sum_;                            // by saved value
  std::vector<std::vector<double>> largest_magnitudes_; // by saved value: of each sum
  std::uint32_t commits_until_run_ = maximum_commits;
  bool must_recompute_all_ = false; // a sum is not finite, or rounding errors accumulated
};

} // namespace overdub::increments
