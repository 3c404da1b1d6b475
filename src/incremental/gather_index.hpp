// A reverse index of reads in nested maps: for each index of an array, the iterations of the outer map that read the element there.
#pragma once

#include <overdub/core/requirements.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace overdub::increments {

/// The rows that read an index, ascending, each once. It is built from all pairs of row and index, and rebuilt when the values that the
/// indices depend on changed: O(pairs).
class gather_index {
public:
  /// The cost of finding and sorting a pair, in additions, where update programs are compared with plain runs. It was measured at 3 to 13
  /// ns.
  static constexpr std::uint64_t work_of_pair = 32;

  /// Whether it was built for saved values of this state.
  bool is_current(std::vector<std::uint64_t> const& state) const { return is_built_ && state_ == state; }
  /// `keys` are the indices that were read, in the order of their rows. None is negative, since each was read.
  void build(
      std::vector<std::uint64_t> state, std::span<std::int64_t const> rows,
      std::span<std::int64_t const> keys) {
    is_built_ = false;
    std::size_t size = 0;
    for (std::int64_t const key : keys) size = std::max(size, static_cast<std::size_t>(key) + 1);
    first_.assign(size + 1, 0);
    // A counting sort. A row that reads an element twice is listed once.
    std::vector<std::int64_t> last(size, -1);
    auto const for_each = [&](auto const& f) {
      std::fill(last.begin(), last.end(), std::int64_t{-1});
      for (std::size_t k = 0; k < keys.size(); ++k)
        if (auto const key = static_cast<std::size_t>(keys[k]); std::exchange(last[key], rows[k]) != rows[k])
          f(key, rows[k]);
    };
    for_each([&](std::size_t key, std::int64_t) { ++first_[key + 1]; });
    for (std::size_t k = 0; k < size; ++k) first_[k + 1] += first_[k];
    rows_.resize(first_[size]);
    std::vector<std::size_t> next(first_.begin(), first_.end());
    for_each([&](std::size_t key, std::int64_t row) { rows_[next[key]++] = row; });
    state_ = std::move(state);
    is_built_ = true;
  }
  /// Valid until the next `build`.
  std::span<std::int64_t const> rows(std::int64_t key) const {
    if (key < 0 || static_cast<std::size_t>(key) + 1 >= first_.size()) return {};
    auto const k = static_cast<std::size_t>(key);
    return std::span(rows_).subspan(first_[k], first_[k + 1] - first_[k]);
  }

private:
  bool is_built_ = false;
  std::vector<std::uint64_t> state_;
  std::vector<std::size_t> first_; // by index: the position of its rows
  std::vector<std::int64_t> rows_;
};

} // namespace overdub::increments
