// Reference-counted memory of arrays during a run. Each machine has a pool that reuses its buffers: repeated runs
// allocate nothing.
#pragma once

#include <overdub/array/array.hpp>
#include <overdub/core/error.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

namespace overdub::execute {

/// The header before the elements of an array. The count is not atomic, since a buffer belongs to one machine.
struct alignas(64) buffer {
  std::size_t count = 0; // references; 0: free
  std::size_t bytes = 0; // of elements, without the header
  buffer* next = nullptr;
  std::uint32_t size_class = 0;

  std::byte* data() { return reinterpret_cast<std::byte*>(this + 1); }
};

/// Free buffers by size class. Not thread-safe.
class buffer_pool {
public:
  static constexpr std::size_t largest = std::size_t{1} << 46;

  buffer_pool() = default;
  buffer_pool(buffer_pool const&) = delete;
  buffer_pool& operator=(buffer_pool const&) = delete;
  ~buffer_pool() {
    for (buffer* const b : all_) free(b);
  }

  /// A buffer of at least this size, with one reference. Throws size_error above `largest`, and out_of_memory if the
  /// allocation fails. Amortised O(1).
  buffer* take(std::size_t bytes) {
    std::uint32_t const k = class_of(bytes);
    buffer* const b = free_[k];
    if (b == nullptr) [[unlikely]]
      return make(k, bytes);
    free_[k] = b->next;
    b->count = 1;
    return b;
  }
  void release(buffer* b) {
    if (--b->count == 0) {
      b->next = free_[b->size_class];
      free_[b->size_class] = b;
    }
  }
  /// Returns all buffers to the pool, whatever their counts. Frees no memory. O(buffers).
  void reset() {
    for (buffer*& first : free_) first = nullptr;
    for (buffer* const b : all_) {
      b->count = 0;
      b->next = free_[b->size_class];
      free_[b->size_class] = b;
    }
  }
  std::size_t bytes() const {
    std::size_t sum = 0;
    for (buffer const* const b : all_) sum += b->bytes;
    return sum;
  }

private:
  // Size classes are 4, 5, 6 and 7 times powers of two.
  static constexpr std::size_t smallest = 64;
  static constexpr std::uint32_t classes = 4 * 42;

  static std::uint32_t class_of(std::size_t bytes) {
    if (bytes <= smallest) return 0;
    if (bytes > largest) detail::throw_too_large(static_cast<long long>(bytes), 1);
    // The top three bits of bytes - 1: (bytes - 1) >> width is 4, 5, 6 or 7.
    unsigned const width = static_cast<unsigned>(std::bit_width(bytes - 1)) - 3;
    return static_cast<std::uint32_t>((width - 4) * 4 + ((bytes - 1) >> width) - 4 + 1);
  }
  static std::size_t bytes_of(std::uint32_t size_class) {
    return std::size_t{4 + size_class % 4} << (size_class / 4 + 4);
  }
  buffer* make(std::uint32_t k, std::size_t wanted) {
    std::size_t const bytes = bytes_of(k);
    if (all_.size() == all_.capacity()) all_.reserve(2 * all_.size() + 8);
    void* const memory =
        ::operator new (sizeof(buffer) + bytes, std::align_val_t{alignof(buffer)}, std::nothrow);
    if (memory == nullptr) detail::throw_no_memory(static_cast<long long>(wanted), 1);
    buffer* const b = ::new (memory) buffer;
    b->count = 1;
    b->bytes = bytes;
    b->size_class = k;
    all_.push_back(b);
    return b;
  }
  static void free(buffer* b) { ::operator delete (b, std::align_val_t{alignof(buffer)}); }

  buffer* free_[classes]{};
  std::vector<buffer*> all_;
};

} // namespace overdub::execute
