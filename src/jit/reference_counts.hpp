// Emits the counting of references, by the live ranges of values (ir/live_ranges.hpp): the creator of an array value owns one
// reference, and transfers it at the last use. References are elided where another owner keeps the buffer alive: for
// parameters that are only read, and for parts whose array has a later last use (`borrowed`). Buffers known to have
// one reference (`unique`) are written without a test of the count.
#pragma once

#include "function.hpp"

#include <vector>

namespace overdub::jit {

/// Begins the live range of a value defined in region r. Releases it, if it is unused.
void begin_live_ranges(function_state&, value_id v, region_id r);
inline void begin_live_ranges(function_state& fn, ir::id_range<value_id> all, region_id r) {
  for (value_id const v : all) begin_live_ranges(fn, v, r);
}
/// Releases values with their last use here, after the operation is emitted.
void end_live_ranges(function_state&, node_id n);
/// Begins a region into which references are passed (live_ranges::pass_into_regions): releases those that it does not
/// use.
void begin_region(function_state&, region_id r, value_ids const& given);

/// The value with a reference, which an operation transfers: the value's own at its last use, else a new one.
value transferred(function_state&, value_id v, node_id n);
/// Yielded values, operands from `first` on, with transferred references.
std::vector<value> transferred_yields(function_state&, region_id r, std::uint32_t first, std::uint32_t count);
/// Operands of a loop, as initial loop-carried values with references of their own.
std::vector<value>
initial_values(function_state&, node_id n, std::uint32_t first_operand, std::uint32_t count);

/// Marks the buffer as no longer unique.
void mark_shared(function_state&, value_id v);
void retain(function_state&, value_id v);
void retain_owner(function_state&, llvm::Value* owner);

/// Defines `part`, which shares the buffer of an array: borrowed, with the reference of the array at its last use, or
/// with a new reference.
void make_part(function_state&, value_id array, value_id part, parts all, node_id n);
/// The array itself at its last use; else a new reference, or a copy if it will be written.
value reuse_array(function_state&, value_id array, node_id n, bool writes);
/// Makes an array unique: copies it if it is not.
void make_unique(function_state&, ir::type t, value& x);

/// The bytes of an array, or of its parts from an axis on.
llvm::Value* byte_count(function_state&, ir::type t, value const& x, std::uint32_t first_axis);

} // namespace overdub::jit
