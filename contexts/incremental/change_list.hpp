// A list of changed elements of an array, for more elements than an update names one by one.
#pragma once

#include <overdub/contexts/incremental/cells.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

namespace overdub::contexts::increments {

/// Elements of an array along its leading axis, each once, and their new values; of arrays of arrays, rows. Memory: a number for each
/// element of the array, and the new values. It is reused by the next list.
class change_list {
public:
  static constexpr i64 none = -1;

  explicit change_list(ir::type t) : rows_(t), sorted_(t) {}

  /// Starts an empty list for this array.
  void begin(cells const& of) {
    clear();
    positions_.resize(static_cast<std::size_t>(of.extent(0)), none);
    rows_.extend(-rows_.extent(0));
    rows_.set_row(of.extents() + 1);
  }
  /// The new value of the element at this index. An element that is not in the list is added with its old value. O(length of the
  /// element), amortised.
  std::byte* at(i64 index, cells const& of) {
    i64& position = positions_[static_cast<std::size_t>(index)];
    std::size_t const bytes = of.bytes_of_row();
    if (position == none) {
      std::size_t const last = size();
      rows_.reserve_rows(1);
      indices_.push_back(index);
      if (bytes > 0)
        std::memcpy(rows_.data() + last * bytes, of.data() + static_cast<std::size_t>(index) * bytes, bytes);
      rows_.extend(1);
      is_sorted_ = is_sorted_ && (last == 0 || indices_[last - 1] < index);
      position = static_cast<i64>(last);
    }
    return rows_.data() + static_cast<std::size_t>(position) * bytes;
  }
  bool has(i64 index) const { return positions_[static_cast<std::size_t>(index)] != none; }
  std::size_t size() const { return indices_.size(); }

  /// Sorts the list by index if it is not sorted. O(size log size), or O(size + length / 64) where it has many of the array's elements.
  void sort() {
    if (is_sorted_) return;
    std::size_t const words = positions_.size() / 64 + 1;
    marks_.resize(words);
    sorted_.assign(rows_.data(), rows_.extents());
    if (size() * 16 < words)
      std::sort(indices_.begin(), indices_.end());
    else
      sort_by_marks();
    std::size_t const bytes = rows_.bytes_of_row();
    for (std::size_t k = 0; k < size(); ++k) {
      i64& position = positions_[static_cast<std::size_t>(indices_[k])];
      std::byte const* const from = rows_.data() + static_cast<std::size_t>(position) * bytes;
      if (bytes == sizeof(std::uint64_t))
        std::memcpy(sorted_.data() + k * sizeof(std::uint64_t), from, sizeof(std::uint64_t));
      else if (bytes > 0)
        std::memcpy(sorted_.data() + k * bytes, from, bytes);
      position = static_cast<i64>(k);
    }
    std::swap(rows_, sorted_);
    is_sorted_ = true;
  }

  std::span<i64 const> indices() const { return indices_; }
  /// By index of the array: the position in the list, or `none`.
  std::span<i64 const> positions() const { return positions_; }
  /// The new values, in the order of the indices.
  cells& elements() { return rows_; }
  cells const& elements() const { return rows_; }

  /// O(size).
  void clear() {
    for (i64 const index : indices_) positions_[static_cast<std::size_t>(index)] = none;
    indices_.clear();
    is_sorted_ = true;
  }

private:
  // Sorts by a bit set of indices.
  void sort_by_marks() {
    for (i64 const index : indices_)
      marks_[static_cast<std::size_t>(index) / 64] |= std::uint64_t{1}
                                                      << (static_cast<std::size_t>(index) % 64);
    std::size_t k = 0;
    for (std::size_t word = 0; k < size(); ++word)
      for (std::uint64_t& bits = marks_[word]; bits != 0; bits &= bits - 1)
        indices_[k++] = static_cast<i64>(word * 64) + std::countr_zero(bits);
  }

  std::vector<i64> indices_;
  cells rows_, sorted_;              // by position in the list
  std::vector<i64> positions_;       // by index: the position in the list, or none
  std::vector<std::uint64_t> marks_; // a bit for each index; all 0, but during a sort
  bool is_sorted_ = true;
};

} // namespace overdub::contexts::increments
