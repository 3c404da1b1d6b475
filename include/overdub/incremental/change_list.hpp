// A list of changed elements of an array, for more elements than an update names one by one.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/incremental/cells.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace overdub::increments {

/// Elements of an array along its leading axis, each once, and their new values; of arrays of arrays, rows. Memory: a number for each
/// element of the array, and the new values. It is reused by the next list.
class change_list {
public:
  static constexpr i64 none = -1;

  explicit change_list(ir::type t);
  change_list(change_list const& other);
  change_list(change_list&& other) noexcept;
  change_list& operator=(change_list const& other);
  change_list& operator=(change_list&& other) noexcept;
  ~change_list();

  /// Starts an empty list for this array.
  void begin(cells const& of);
  /// The new value of the element at this index. An element that is not in the list is added with its old value. O(length of the
  /// element), amortised.
  std::byte* at(i64 index, cells const& of);
  bool has(i64 index) const { return positions_[static_cast<std::size_t>(index)] != none; }
  std::size_t size() const { return indices_.size(); }

  /// Sorts the list by index if it is not sorted. O(size log size), or O(size + length / 64) where it has many of the array's elements.
  void sort();

  std::span<i64 const> indices() const { return indices_; }
  /// By index of the array: the position in the list, or `none`.
  std::span<i64 const> positions() const { return positions_; }
  /// The new values, in the order of the indices.
  cells& elements() { return rows_; }
  cells const& elements() const { return rows_; }

  /// O(size).
  void clear();

private:
  void sort_by_marks();

  std::vector<i64> indices_;
  cells rows_, sorted_;              // by position in the list
  std::vector<i64> positions_;       // by index: the position in the list, or none
  std::vector<std::uint64_t> marks_; // a bit for each index; all 0, but during a sort
  bool is_sorted_ = true;
};

} // namespace overdub::increments
