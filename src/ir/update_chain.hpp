// Chains of updates of an array: each creates a version of it, of the same shape.
#pragma once

#include <overdub/ir/function.hpp>

#include <cstdint>
#include <limits>

namespace overdub::ir {

/// The array that a value is an update or a copy of; nothing, for other values. O(1).
inline value_id previous_version(function const& f, value_id v) {
  if (!f.is_result(v)) return nothing;
  node_id const made = f.node_of(v);
  return row_of(f[made].code).result == array_result::version ? f.operand(made, 0) : value_id(nothing);
}

inline constexpr std::uint32_t any_number = std::numeric_limits<std::uint32_t>::max();

/// The array before a chain of at most so many updates and copies. O(limit).
inline value_id before_updates(function const& f, value_id array, std::uint32_t limit) {
  for (std::uint32_t step = 0; step < limit; ++step) {
    value_id const previous = previous_version(f, array);
    if (previous == nothing) break;
    array = previous;
  }
  return array;
}

} // namespace overdub::ir
