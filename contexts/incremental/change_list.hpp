// Elements of an array that change together, in a list: more than an update names one by one.
#pragma once

#include <overdub/contexts/incremental/memory.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace overdub::contexts::increments {

/// Elements of an array along its leading axis, each once, and what they will be; of arrays of arrays, rows. Memory: a number for each
/// element of the array, and what changes; it stays for the next list.
class change_list {
public:
  explicit change_list(ir::type t) : rows_(t), sorted_(t) {}

  /// An empty list for this array.
  void begin(cells const& of) {
    clear();
    number_of_.resize(static_cast<std::size_t>(of.extent(0)));
    rows_.extend(-rows_.extent(0));
    rows_.set_row(of.extents() + 1);
  }
  /// Where the element at this index stands, a copy of what the array has there: it is put on the list. Amortised O(its length).
  std::byte* at(i64 index, cells const& of) {
    std::uint32_t& number = number_of_[static_cast<std::size_t>(index)];
    std::size_t const bytes = of.bytes_of_row();
    if (number == 0) {
      rows_.reserve_rows(1);
      indices_.push_back(index);
      if (bytes > 0)
        std::memcpy(
            rows_.data() + size() * bytes - bytes, of.data() + static_cast<std::size_t>(index) * bytes,
            bytes);
      rows_.extend(1);
      is_sorted_ = is_sorted_ && (size() == 1 || indices_[size() - 2] < index);
      number = static_cast<std::uint32_t>(size());
    }
    return rows_.data() + (number - 1) * bytes;
  }
  bool has(i64 index) const { return number_of_[static_cast<std::size_t>(index)] != 0; }
  std::size_t size() const { return indices_.size(); }

  /// Puts the list in ascending order: O(size), and O(size log size) where it was not.
  void sort() {
    if (is_sorted_) return;
    order_.resize(size());
    std::iota(order_.begin(), order_.end(), 0u);
    std::sort(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) {
      return indices_[a] < indices_[b];
    });
    sorted_.assign(rows_.data(), rows_.extents());
    std::size_t const bytes = rows_.bytes_of_row();
    for (std::size_t k = 0; k < size(); ++k)
      if (bytes > 0) std::memcpy(sorted_.data() + k * bytes, rows_.data() + order_[k] * bytes, bytes);
    std::swap(rows_, sorted_);
    std::sort(indices_.begin(), indices_.end());
    for (std::size_t k = 0; k < size(); ++k)
      number_of_[static_cast<std::size_t>(indices_[k])] = static_cast<std::uint32_t>(k + 1);
    is_sorted_ = true;
  }

  std::span<i64 const> indices() const { return indices_; }
  /// What stands at the indices, in their order.
  cells& elements() { return rows_; }
  cells const& elements() const { return rows_; }

  /// O(size).
  void clear() {
    for (i64 const index : indices_) number_of_[static_cast<std::size_t>(index)] = 0;
    indices_.clear();
    is_sorted_ = true;
  }

private:
  std::vector<i64> indices_;
  cells rows_, sorted_;                  // by place in the list
  std::vector<std::uint32_t> number_of_; // by index: its place in the list, from 1 on; 0, where it has none
  std::vector<std::uint32_t> order_;
  bool is_sorted_ = true;
};

} // namespace overdub::contexts::increments
