// Deferred additions to accumulators that the lanes of a block share. Floating-point sums depend on their order, which is
// that of the elements. A block records its additions, and performs them in this order when all of its lanes are computed.
#pragma once

#include <overdub/implementation/execute/lanes.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace overdub::execute {

/// The additions of one block to accumulators of type T.
///
/// If all lanes of an addition go to one cell, the cell has a list of rows of numbers. Cells are independent, so that
/// several are added up at once, and those of a finished iteration early, before the block ends. If a later addition goes
/// to a cell that was added up early, the cell is reset, and the block restarts. If each lane has its own cell, all
/// additions of the block to the accumulator are made lane by lane.
template <class T>
class deferred_adds {
public:
  /// Whether the numbers fit; and whether a cell was added up too early.
  enum class outcome { recorded, too_many, too_early };

  /// Begins a block. O(cells of the previous one).
  void begin() {
    for (cell const& c : cells_) table_[c.slot] = 0;
    cells_.clear();
    open_.clear();
    scattered_.clear();
    forget_rows();
  }
  /// Records n numbers at `from` for one cell, without those of masked lanes. O(n).
  outcome add(T* to, T const* from, i64 const* mask, i64 n) {
    cell& c = cells_[find(to)];
    if (c.is_early) return outcome::too_early;
    if (!record(from, mask, n)) return outcome::too_many;
    auto const last = static_cast<std::uint32_t>(rows_.size() - 1);
    if (c.count++ == 0) {
      c.first = last;
      open_.push_back(static_cast<std::uint32_t>(&c - cells_.data()));
    } else
      rows_[c.last].next = last;
    c.last = last;
    return outcome::recorded;
  }
  /// Records each number for the cell at its offset from `to`. O(n).
  outcome scatter(T* to, i64 const* offsets, T const* from, i64 const* mask, i64 n) {
    if (!record(from, mask, n)) return outcome::too_many;
    auto const last = static_cast<std::uint32_t>(rows_.size() - 1);
    scattered_.push_back({to, last, offsets_.size()});
    for (i64 i = 0; i < n; ++i) offsets_.push_back(mask == nullptr || mask[i] != 0 ? offsets[i] : none);
    return outcome::recorded;
  }
  /// Adds up the cells, if there is enough work. O(numbers).
  void add_early(i64 n) {
    if (rows_.size() < profitable_from || !scattered_.empty()) return;
    add_cells(n);
    forget_rows();
  }
  /// Adds up the rest. O(numbers).
  void finish(i64 n) {
    add_cells(n);
    for (i64 i = 0; i < n; ++i)
      for (scattered const& s : scattered_)
        if (i64 const at = offsets_[s.offsets + static_cast<std::size_t>(i)]; at != none)
          s.to[at] = native::add(s.to[at], row_at(s.row)[i]);
    begin();
  }
  /// Undoes early additions, and restarts the block.
  void restart() {
    for (cell const& c : cells_)
      if (c.is_early) *c.to = c.before;
    begin();
  }

private:
  static constexpr i64 none = -1;
  static constexpr std::size_t profitable_from = 64;           // rows
  static constexpr std::size_t maximum = std::size_t{1} << 20; // numbers: they should fit into a cache

  struct cell {
    T* to;
    std::uint32_t slot;
    std::uint32_t first = 0, last = 0, count = 0; // indices of its rows
    bool is_early = false;
    T before{}; // its value before the block
  };
  struct row {
    std::size_t at;
    std::uint32_t next = 0;
  };
  struct scattered {
    T* to;
    std::uint32_t row;
    std::size_t offsets;
  };

  T const* row_at(std::uint32_t r) const { return numbers_.data() + rows_[r].at; }
  void forget_rows() {
    rows_.clear();
    used_ = 0;
    offsets_.clear();
  }
  bool record(T const* from, i64 const* mask, i64 n) {
    auto const size = static_cast<std::size_t>(n);
    if (used_ + size > maximum) return false;
    if (used_ + size > numbers_.size()) numbers_.resize(std::max<std::size_t>(2 * numbers_.size(), 8192));
    T* const to = numbers_.data() + used_;
    if (mask == nullptr)
      std::copy_n(from, size, to);
    else // masked lanes add -0.0, the identity of addition; 0.0 for a subtraction
      for (std::size_t i = 0; i < size; ++i) to[i] = mask[i] != 0 ? from[i] : -T{};
    rows_.push_back({used_});
    used_ += size;
    return true;
  }

  // ---- cells by address: open addressing; table_ has their indices + 1

  std::size_t hash(T const* to) const {
    return static_cast<std::size_t>(
               (reinterpret_cast<std::uintptr_t>(to) / sizeof(T)) * 0x9e3779b97f4a7c15u >> 32) &
           (table_.size() - 1);
  }
  std::uint32_t find(T* to) {
    if (2 * cells_.size() >= table_.size()) grow();
    std::size_t slot = hash(to);
    for (; table_[slot] != 0; slot = (slot + 1) & (table_.size() - 1))
      if (cells_[table_[slot] - 1].to == to) return table_[slot] - 1;
    cells_.push_back({to, static_cast<std::uint32_t>(slot)});
    table_[slot] = static_cast<std::uint32_t>(cells_.size());
    return table_[slot] - 1;
  }
  void grow() {
    table_.assign(std::max<std::size_t>(4 * table_.size(), 1024), 0);
    for (std::size_t k = 0; k < cells_.size(); ++k) {
      std::size_t slot = hash(cells_[k].to);
      while (table_[slot] != 0) slot = (slot + 1) & (table_.size() - 1);
      cells_[k].slot = static_cast<std::uint32_t>(slot);
      table_[slot] = static_cast<std::uint32_t>(k + 1);
    }
  }

  // ---- adding up several cells at once: those with equal numbers of rows together

  void add_cells(i64 n) {
    std::uint32_t maximum_rows = 0;
    for (std::uint32_t const k : open_) maximum_rows = std::max(maximum_rows, cells_[k].count);
    by_count_.assign(maximum_rows + 2, 0);
    for (std::uint32_t const k : open_) ++by_count_[cells_[k].count + 1];
    for (std::size_t c = 1; c < by_count_.size(); ++c) by_count_[c] += by_count_[c - 1];
    ordered_.resize(open_.size());
    for (std::uint32_t const k : open_) ordered_[by_count_[cells_[k].count]++] = k;
    std::size_t first = 0;
    for (; first + together <= ordered_.size(); first += together) add_some<together>(&ordered_[first], n);
    for (; first < ordered_.size(); ++first) add_some<1>(&ordered_[first], n);
    for (std::uint32_t const k : open_) cells_[k].count = 0;
    open_.clear();
  }
  template <std::size_t Count>
  void add_some(std::uint32_t const* which, i64 n) {
    static constexpr std::array<T, maximum_lanes> nothing = [] {
      std::array<T, maximum_lanes> all{};
      all.fill(-T{});
      return all;
    }();
    std::size_t const longest = cells_[which[Count - 1]].count;
    pointers_.assign(longest * Count, nothing.data());
    std::array<T, Count> sums;
    for (std::size_t k = 0; k < Count; ++k) {
      cell& c = cells_[which[k]];
      std::uint32_t r = c.first;
      for (std::size_t i = 0; i < c.count; ++i, r = rows_[r].next) pointers_[i * Count + k] = row_at(r);
      c.is_early = true;
      c.before = sums[k] = *c.to;
    }
    T const* const* const rows = pointers_.data();
    for (i64 i = 0; i < n; ++i)
      for (std::size_t r = 0; r < longest; ++r)
        for (std::size_t k = 0; k < Count; ++k) sums[k] = native::add(sums[k], rows[r * Count + k][i]);
    for (std::size_t k = 0; k < Count; ++k) *cells_[which[k]].to = sums[k];
  }
  static constexpr std::size_t together = 8;

  std::vector<cell> cells_; // of the block
  std::vector<std::uint32_t> table_;
  std::vector<std::uint32_t> open_; // cells with rows
  std::vector<row> rows_;
  std::vector<T> numbers_; // of all rows
  std::size_t used_ = 0;
  std::vector<scattered> scattered_;
  std::vector<i64> offsets_;
  // Scratch memory of `add_cells`.
  std::vector<std::uint32_t> by_count_, ordered_;
  std::vector<T const*> pointers_;
};

/// The additions of one block to all accumulators.
class block_additions {
public:
  template <class T>
  deferred_adds<T>& of() {
    if constexpr (std::is_same_v<T, double>)
      return doubles_;
    else if constexpr (std::is_same_v<T, float>)
      return floats_;
    else
      return integers_;
  }
  /// As in deferred_adds, for all types.
  void begin() {
    for_each([](auto& of_type) { of_type.begin(); });
  }
  void add_early(i64 n) {
    for_each([n](auto& of_type) { of_type.add_early(n); });
  }
  void finish(i64 n) {
    for_each([n](auto& of_type) { of_type.finish(n); });
  }
  void restart() {
    for_each([](auto& of_type) { of_type.restart(); });
  }

private:
  template <class F>
  void for_each(F const& f) {
    f(doubles_);
    f(floats_);
    f(integers_);
  }

  deferred_adds<double> doubles_;
  deferred_adds<float> floats_;
  deferred_adds<i64> integers_;
};

} // namespace overdub::execute
