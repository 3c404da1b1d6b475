// A reverse index: for each number, the positions of an array of integers that hold it. Where a map reads x[z[i]], the reverse index of z
// finds the iterations that a changed element of x affects.
#pragma once

#include <overdub/core/error.hpp>

#include <cstdint>
#include <new>
#include <span>
#include <tsl/robin_map.h>
#include <utility>
#include <vector>

namespace overdub::increments {

/// The positions of each number in an array of integers. It is built at the first query. Writes to the array are recorded in a journal,
/// which the next query applies, together with elements that were appended. O(1) for each write; O(length) where it is built, or rebuilt
/// since the journal became long.
class reverse_index {
public:
  /// The element of the array at this position may have changed.
  void record_write(std::int64_t position) noexcept {
    ++writes_;
    if (!is_built_) return;
    if (journal_.size() * 4 > key_of_.size() + 64) return invalidate();
    try {
      journal_.push_back(position);
    } catch (std::bad_alloc const&) { // the next query rebuilds it
      invalidate();
    }
  }
  /// All elements may have changed.
  void invalidate() noexcept {
    ++writes_;
    is_built_ = false;
    journal_.clear();
  }

  /// The positions at which the array holds a number, in no particular order. Valid until the next query. All writes to the array since
  /// the last query were recorded.
  std::span<std::int64_t const> positions(std::int64_t number, std::span<std::int64_t const> array) {
    bool const was_built =
        std::exchange(is_built_, false) &&
        key_of_.size() <= array.size(); // if memory runs out below, the next query rebuilds it
    if (!was_built) build(array);
    for (std::size_t i = key_of_.size(); i < array.size(); ++i) {
      key_of_.push_back(array[i]);
      index_in_list_.push_back(0);
      add(static_cast<std::int64_t>(i), array[i]);
    }
    for (std::int64_t const position : journal_) move(position, array[static_cast<std::size_t>(position)]);
    journal_.clear();
    is_built_ = true;
    positions_of_number const* const all = find(number);
    return all == nullptr ? std::span<std::int64_t const>() : std::span<std::int64_t const>(*all);
  }
  /// Differs if the array may have changed, otherwise than by appended elements.
  std::uint64_t writes() const { return writes_; }

private:
  using positions_of_number = std::vector<std::int64_t>;

  positions_of_number const* find(std::int64_t number) const {
    if (number >= 0 && static_cast<std::uint64_t>(number) < small_.size())
      return &small_[static_cast<std::size_t>(number)];
    auto const at = others_.find(number);
    return at == others_.end() ? nullptr : &at->second;
  }
  positions_of_number& list(std::int64_t number) {
    if (number >= 0 && static_cast<std::uint64_t>(number) < small_.size())
      return small_[static_cast<std::size_t>(number)];
    return others_[number];
  }
  void build(std::span<std::int64_t const> array) {
    std::size_t const n = array.size();
    key_of_.assign(array.begin(), array.end());
    index_in_list_.resize(n);
    journal_.clear();
    others_.clear();
    for (auto& each : small_) each.clear();
    // Numbers that may be indices of an array not much longer than this one get lists of their own; others are hashed.
    std::int64_t largest = -1;
    for (std::int64_t const k : array)
      if (k > largest && static_cast<std::uint64_t>(k) <= 2 * n + 16) largest = k;
    if (static_cast<std::size_t>(largest + 1) > small_.size())
      small_.resize(static_cast<std::size_t>(largest + 1));
    for (std::size_t i = 0; i < n; ++i) add(static_cast<std::int64_t>(i), array[i]);
  }
  void add(std::int64_t position, std::int64_t number) {
    auto& to = list(number);
    index_in_list_[static_cast<std::size_t>(position)] = to.size();
    to.push_back(position);
  }
  void move(std::int64_t position, std::int64_t number) {
    auto const p = static_cast<std::size_t>(position);
    if (key_of_[p] == number) return;
    auto& from = list(key_of_[p]);
    std::int64_t const last = from.back();
    from[index_in_list_[p]] = last;
    index_in_list_[static_cast<std::size_t>(last)] = index_in_list_[p];
    from.pop_back();
    key_of_[p] = number;
    add(position, number);
  }

  bool is_built_ = false;
  std::uint64_t writes_ = 0;
  std::vector<std::int64_t> key_of_;       // by position: the number under which it is listed
  std::vector<std::size_t> index_in_list_; // by position: its index in that list
  std::vector<positions_of_number> small_; // by number
  tsl::robin_map<std::int64_t, positions_of_number> others_;
  std::vector<std::int64_t> journal_;
};

} // namespace overdub::increments
