// The layout of arrays in frames, {elements, owner, extents}, and their allocation.
#pragma once

#include <overdub/execute/frame.hpp>
#include <overdub/implementation/execute/machine.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <new>
#include <string_view>

namespace overdub::execute {

/// The rank of an array, in the upper half, and the size of a scalar, as an operand of instructions.
constexpr offset rank_and_size(offset rank, offset size) { return rank << 16 | size; }

inline buffer* owner(std::byte const* frame, offset array) { return get<buffer*>(frame, array + word_size); }
inline void retain(std::byte const* frame, offset array) {
  if (buffer* const b = owner(frame, array)) ++b->count;
}
inline void release(machine& m, std::byte const* frame, offset array) {
  if (buffer* const b = owner(frame, array)) m.buffers.release(b);
}
inline bool is_unique(std::byte const* frame, offset array) {
  buffer const* const b = owner(frame, array);
  return b != nullptr && b->count == 1;
}

/// The bytes for so many scalars; throws size_error if that exceeds the address space.
inline std::size_t bytes_for(i64 const* extents, offset rank, std::size_t size) {
  std::size_t bytes = size;
  i64 elements = 1;
  bool too_large = false, empty = false;
  for (offset k = 0; k < rank; ++k) {
    empty = empty || extents[k] == 0;
    too_large = __builtin_mul_overflow(bytes, static_cast<std::size_t>(extents[k]), &bytes) || too_large;
    if (__builtin_mul_overflow(elements, extents[k], &elements)) elements = std::numeric_limits<i64>::max();
  }
  if (empty) return 0;
  if (too_large || bytes > buffer_pool::largest) detail::throw_too_large(elements, size);
  return bytes;
}

/// Throws for an allocation that failed, with the shape in the message.
[[noreturn, gnu::cold]] void
throw_no_memory(std::string_view op, i64 const* extents, offset rank, std::size_t size);
/// Allocates a buffer for the operation's result.
inline buffer*
take_buffer(machine& m, i64 const* extents, offset rank, std::size_t size, std::string_view op) {
  std::size_t const bytes = bytes_for(extents, rank, size);
  try {
    return m.buffers.take(bytes);
  } catch (std::bad_alloc const&) {
    throw_no_memory(op, extents, rank, size);
  }
}

/// Creates an array of this shape at `at`, its elements uninitialised; after an extent of 0, all are 0. `extents` may be
/// those of another array in the frame. Returns the elements.
inline std::byte* make_array(
    machine& m, std::byte* frame, offset at, i64 const* extents, offset rank, std::size_t size,
    std::string_view op) {
  i64 normalised[ir::max_rank + 1];
  bool empty = false;
  for (offset k = 0; k < rank; ++k) {
    if (extents[k] < 0) detail::throw_negative(op, extents[k]);
    normalised[k] = empty ? 0 : extents[k];
    empty = empty || extents[k] == 0;
  }
  buffer* const b = take_buffer(m, normalised, rank, size, op);
  put(frame, at, b->data());
  put(frame, at + word_size, b);
  std::memcpy(frame + at + 2 * word_size, normalised, rank * word_size);
  return b->data();
}

/// Makes the array at `at` the unique reference to its buffer (copy on write). O(1) if it is already, else O(its elements).
inline void make_unique(machine& m, std::byte* frame, offset at, offset rank, std::size_t size) {
  if (is_unique(frame, at)) return;
  auto const bytes = static_cast<std::size_t>(scalars(frame, at, rank)) * size;
  buffer* const b = m.buffers.take(bytes);
  if (bytes > 0) std::memcpy(b->data(), elements(frame, at), bytes);
  release(m, frame, at);
  put(frame, at, b->data());
  put(frame, at + word_size, b);
}

} // namespace overdub::execute
