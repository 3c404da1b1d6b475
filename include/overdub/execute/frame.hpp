// The layout of arrays in frames: {elements, owner, extents}.
#pragma once

#include <overdub/execute/instruction.hpp>

#include <cstddef>

namespace overdub::execute {

inline std::byte* elements(std::byte const* frame, offset array) { return get<std::byte*>(frame, array); }
inline constexpr offset extent_at(offset array, offset axis) { return array + (2 + axis) * word_size; }
inline i64 extent(std::byte const* frame, offset array, offset axis) {
  return get<i64>(frame, extent_at(array, axis));
}

/// The number of scalars in an array, or in its part from an axis on.
inline i64 scalars(std::byte const* frame, offset array, offset rank, offset axis = 0) {
  i64 n = 1;
  for (offset k = axis; k < rank; ++k) n *= extent(frame, array, k);
  return n;
}

} // namespace overdub::execute
