// For each index, which rows of an outer map read the element there in a map inside.
#pragma once

#include <overdub/core/requirements.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace overdub::contexts::increments {

/// Rows by index, in the order of rows, each once. Built of all pairs, and anew where what they depend on changed: O(pairs).
class gather_index {
public:
  /// What finding and sorting a pair costs, in additions, as updates are compared with plain runs: 3 to 13 ns.
  static constexpr std::uint64_t work_of_pair = 32;

  /// Whether it is of variables of this state.
  bool is_of(std::vector<std::uint64_t> const& state) const { return is_built_ && state_ == state; }
  /// Of indices in the order of their rows: those of elements that were read, so none is negative.
  void build(
      std::vector<std::uint64_t> state, std::span<std::int64_t const> rows,
      std::span<std::int64_t const> keys) {
    is_built_ = false;
    std::size_t most = 0;
    for (std::int64_t const key : keys) most = std::max(most, static_cast<std::size_t>(key) + 1);
    first_.assign(most + 1, 0);
    // Counted, and then put there; of a row that reads an element twice, once.
    std::vector<std::int64_t> last(most, -1);
    auto const for_each = [&](auto const& f) {
      std::fill(last.begin(), last.end(), std::int64_t{-1});
      for (std::size_t k = 0; k < keys.size(); ++k)
        if (auto const key = static_cast<std::size_t>(keys[k]); std::exchange(last[key], rows[k]) != rows[k])
          f(key, rows[k]);
    };
    for_each([&](std::size_t key, std::int64_t) { ++first_[key + 1]; });
    for (std::size_t k = 0; k < most; ++k) first_[k + 1] += first_[k];
    rows_.resize(first_[most]);
    std::vector<std::size_t> next(first_.begin(), first_.end());
    for_each([&](std::size_t key, std::int64_t row) { rows_[next[key]++] = row; });
    state_ = std::move(state);
    is_built_ = true;
  }
  /// Valid until it is built anew.
  std::span<std::int64_t const> rows(std::int64_t key) const {
    if (key < 0 || static_cast<std::size_t>(key) + 1 >= first_.size()) return {};
    auto const k = static_cast<std::size_t>(key);
    return std::span(rows_).subspan(first_[k], first_[k + 1] - first_[k]);
  }

private:
  bool is_built_ = false;
  std::vector<std::uint64_t> state_;
  std::vector<std::size_t> first_; // by index: of its rows
  std::vector<std::int64_t> rows_;
};

} // namespace overdub::contexts::increments
