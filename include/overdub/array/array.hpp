// array<T>: an immutable handle on contiguous elements. Copies share one reference-counted block, or borrow the caller's memory.
#pragma once

#include <overdub/array/memory.hpp>
#include <overdub/call/scalar_leaf.hpp>
#include <overdub/core/config.hpp>
#include <overdub/core/error.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

namespace overdub {

using i64 = std::int64_t;

namespace detail {

template <class T>
class array_builder;

} // namespace detail

/// An immutable array of T; the handle has 24 bytes. Copying a handle is O(1) and thread-safe. Elements are written only if no other handle
/// shares them, and borrowed ones never.
template <class T>
class array {
  static_assert(
      std::is_object_v<T> && !std::is_const_v<T>, "overdub: array<T> takes a type that can be stored");

public:
  using value_type = T;

  array() = default;
  /// Copies the elements. O(n), one allocation.
  array(std::initializer_list<T> elements) : array(copy_of({elements.begin(), elements.size()})) {}

  /// Refers to the caller's memory, which must outlive all copies of the handle. O(1).
  static array borrow(std::span<T const> elements) {
    array a;
    a.data_ = const_cast<T*>(elements.data()); // never written, since a borrowed array has no block
    a.size_ = static_cast<i64>(elements.size());
    return a;
  }
  /// Rejects a temporary container, which would be destroyed before the handle is used: store it in a variable, or use copy_of.
  template <class R>
  requires(
      !std::is_lvalue_reference_v<R> &&
      !std::ranges::enable_borrowed_range<std::remove_cvref_t<R>>) static array borrow(R&&) = delete;
  /// Copies the elements. O(n), one allocation.
  static array copy_of(std::span<T const> elements);

  array(array const& other) : data_(other.data_), size_(other.size_), block_(other.block_) { acquire(); }
  array(array&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)),
        block_(std::exchange(other.block_, nullptr)) {}
  array& operator=(array const& other) { return *this = array(other); }
  array& operator=(array&& other) noexcept {
    auto* const block = std::exchange(other.block_, nullptr);
    auto* const data = std::exchange(other.data_, nullptr);
    auto const size = std::exchange(other.size_, 0);
    release();
    data_ = data;
    size_ = size;
    block_ = block;
    return *this;
  }
  OVERDUB_INLINE ~array() { release(); }

  i64 size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T const* data() const { return data_; }
  T const* begin() const { return data_; }
  T const* end() const { return data_ + size_; }
  std::span<T const> span() const { return {data_, static_cast<std::size_t>(size_)}; }

  /// The i-th element. Throws index_error. O(1).
  T const& operator[](i64 i) const {
    if (static_cast<std::uint64_t>(i) >= static_cast<std::uint64_t>(size_))
      detail::throw_index("at", i, size_);
    return data_[i];
  }

  /// This array with the i-th element replaced. O(1), in place, if no other handle shares the elements; otherwise O(n). Throws index_error.
  array with(i64 i, T element) &&;
  array with(i64 i, T element) const& { return array(*this).with(i, std::move(element)); }

  /// This array, or a copy if its elements are borrowed. O(1), or O(n) for a copy.
  array owned() const { return block_ ? *this : copy_of(span()); }

  /// Whether this handle is the only owner of the elements.
  bool unique() const { return block_ != nullptr && block_->unique(); }

  friend bool operator==(array const& a, array const& b) {
    if (a.size_ != b.size_) return false;
    for (i64 i = 0; i < a.size_; ++i)
      if (!(a.data_[i] == b.data_[i])) return false;
    return true;
  }

private:
  friend class detail::array_builder<T>;

  static constexpr std::size_t alignment = alignof(T) > 16 ? alignof(T) : 16;
  static constexpr std::size_t offset = (sizeof(detail::array_block) + alignment - 1) / alignment * alignment;

  void acquire() {
    if (block_) block_->acquire();
  }
  // Does not take the address of the handle, not even for exceptions, so that a loop-carried handle stays in registers.
  OVERDUB_INLINE void release() {
    if (block_ && block_->release()) destroy(block_, data_, size_);
  }
  [[gnu::noinline]] static void
  destroy(detail::array_block* block, [[maybe_unused]] T* data, [[maybe_unused]] i64 size) {
    if constexpr (!std::is_trivially_destructible_v<T>)
      for (i64 i = 0; i < size; ++i) data[i].~T();
    detail::free_block<alignment>(block);
  }
  [[gnu::noinline, gnu::cold]] static array copy_with(std::span<T const> elements, i64 i, T element);
  static detail::array_block* allocate_block(i64 size) {
    constexpr std::size_t most = (PTRDIFF_MAX - offset) / sizeof(T);
    if (static_cast<std::size_t>(size) > most) detail::throw_too_large(size, sizeof(T));
    std::size_t const bytes = offset + sizeof(T) * static_cast<std::size_t>(size);
    detail::array_block* const made = detail::allocate_block<alignment>(bytes);
    if (made == nullptr) detail::throw_no_memory(size, sizeof(T));
    return made;
  }

  T* data_ = nullptr;
  i64 size_ = 0;
  detail::array_block* block_ = nullptr;
};

namespace detail {

// Builds an array element by element. Destroys the elements if an exception is thrown.
template <class T>
class array_builder {
public:
  explicit array_builder(i64 size) {
    if (size > 0) {
      out_.block_ = array<T>::allocate_block(size);
      out_.data_ = reinterpret_cast<T*>(reinterpret_cast<std::byte*>(out_.block_) + array<T>::offset);
    }
  }
  array_builder(array_builder&&) = default;
  array_builder& operator=(array_builder&&) = delete;

  // Appends the i-th element; i must be the number of elements so far.
  OVERDUB_INLINE void put(i64 i, T element) {
    ::new (static_cast<void*>(out_.data_ + i)) T(std::move(element));
    if constexpr (!std::is_trivially_destructible_v<T>) out_.size_ = i + 1;
  }
  // Appends elements; `first` must be the number of elements so far.
  void put_all(i64 first, std::span<T const> elements) {
    if constexpr (std::is_trivially_copyable_v<T>) {
      if (!elements.empty()) __builtin_memcpy(out_.data_ + first, elements.data(), elements.size_bytes());
    } else
      for (T const& element : elements) put(first++, element);
  }
  OVERDUB_INLINE array<T> finish(i64 size) {
    out_.size_ = size;
    return std::move(out_);
  }
  // Memory for elements that other threads write. Only for types without a constructor.
  T* room() { return out_.data_; }

private:
  array<T> out_;
};

} // namespace detail

template <class T>
array<T> array<T>::copy_of(std::span<T const> elements) {
  auto const size = static_cast<i64>(elements.size());
  detail::array_builder<T> out(size);
  out.put_all(0, elements);
  return out.finish(size);
}

// If the elements must be copied, the address of the handle is not taken, so that it stays in registers.
template <class T>
inline array<T> array<T>::with(i64 i, T element) && {
  if (static_cast<std::uint64_t>(i) >= static_cast<std::uint64_t>(size_))
    detail::throw_index("update", i, size_);
  if (!unique()) [[unlikely]]
    return copy_with(span(), i, std::move(element));
  data_[i] = std::move(element);
  return std::move(*this);
}

template <class T>
array<T> array<T>::copy_with(std::span<T const> elements, i64 i, T element) {
  array copy = copy_of(elements);
  copy.data_[i] = std::move(element);
  return copy;
}

} // namespace overdub
