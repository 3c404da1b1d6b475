// The memory of saved arrays: numbers of any type and rank, in row-major order.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/execute/datum.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

namespace overdub::increments {

/// The bits of a scalar of `size` bytes.
inline std::uint64_t bits_of(std::byte const* from, std::size_t size) {
  if (size == sizeof(std::uint64_t)) [[likely]] { // by one load
    std::uint64_t word;
    std::memcpy(&word, from, sizeof word);
    return word;
  }
  std::uint64_t bits = 0;
  std::memcpy(&bits, from, size);
  return bits;
}
/// The same; null stands for zero.
inline std::uint64_t bits_or_zero(std::byte const* from, std::size_t size) {
  return from == nullptr ? 0 : bits_of(from, size);
}
inline void put_bits(std::byte* to, std::size_t size, std::uint64_t bits) {
  if (size == sizeof bits) [[likely]]
    std::memcpy(to, &bits, sizeof bits);
  else
    std::memcpy(to, &bits, size);
}

/// A value that is T() after it was moved from.
template <class T>
class moved_out {
public:
  moved_out() = default;
  moved_out(T x) : x_(x) {}
  moved_out(moved_out const&) = default;
  moved_out(moved_out&& other) noexcept : x_(std::exchange(other.x_, T())) {}
  moved_out& operator=(moved_out const&) = default;
  moved_out& operator=(moved_out&& other) noexcept {
    x_ = std::exchange(other.x_, T());
    return *this;
  }
  ~moved_out() = default;

  operator T&() { return x_; }
  operator T const&() const { return x_; }
  T operator->() const { return x_; }

private:
  T x_{};
};

/// An array in row-major order, whose memory is reused as long as its shape stays the same.
class cells {
public:
  explicit cells(ir::type t);
  cells(cells const& other);
  cells(cells&& other) noexcept;
  cells& operator=(cells const& other);
  cells& operator=(cells&& other) noexcept;
  ~cells();

  ir::type type() const { return type_; }
  std::size_t size_of_scalar() const { return size_of_; }
  std::byte* data() { return reinterpret_cast<std::byte*>(words_.data()); }
  std::byte const* data() const { return reinterpret_cast<std::byte const*>(words_.data()); }
  std::uint64_t* words() { return words_.data(); }
  i64 const* extents() const { return extents_.data(); }
  i64 extent(std::size_t axis) const { return extents_[axis]; }

  /// The number of scalars after so many indices.
  i64 scalars(std::size_t indices = 0) const {
    i64 n = 1;
    for (std::size_t k = indices; k < type_.rank; ++k) n *= extents_[k];
    return n;
  }
  /// The offset in bytes of the part at these indices, which must be in range.
  std::size_t at(std::span<i64 const> path) const {
    i64 n = 0;
    for (std::size_t k = 0; k < path.size(); ++k) n = n * extents_[k] + path[k];
    return static_cast<std::size_t>(n * scalars(path.size())) * size_of_;
  }
  /// The bits of a scalar.
  std::uint64_t bits_at(std::size_t byte) const { return bits_of(data() + byte, size_of_); }
  void set_bits_at(std::size_t byte, std::uint64_t bits) { put_bits(data() + byte, size_of_, bits); }

  /// Assigns another array. Returns whether the elements stay at the same address.
  bool assign(std::byte const* elements, i64 const* extents);
  bool assign(datum const& d);
  datum as_datum() const;
  std::size_t bytes() const { return static_cast<std::size_t>(scalars()) * size_of_; }

  /// The size of a row in bytes; of an array of one axis, of an element.
  std::size_t bytes_of_row() const { return static_cast<std::size_t>(scalars(1)) * size_of_; }
  /// Allocates memory for so many rows after the last one. Returns whether the elements stay at the same address. O(rows), amortised.
  bool reserve_rows(i64 rows) {
    std::size_t const words =
        (bytes() + static_cast<std::size_t>(rows) * bytes_of_row() + sizeof(std::uint64_t) - 1) /
        sizeof(std::uint64_t);
    return words <= words_.size() || grow(words);
  }
  /// Allocates memory for a copy of another array, so that assigning it does not allocate. The elements may move.
  void reserve(cells const& other);
  /// Makes rows that were written after the end a part of the array; a negative number removes rows.
  void extend(i64 rows) { extents_[0] += rows; }
  /// Sets the extents of the rows of an array without rows.
  void set_row(i64 const* extents);

private:
  bool reshape(i64 const* extents);
  bool grow(std::size_t words);

  ir::type type_;
  std::size_t size_of_;
  std::vector<i64> extents_;
  std::vector<std::uint64_t> words_;
};

} // namespace overdub::increments
