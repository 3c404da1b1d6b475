// Values in lanes. A varying scalar is a pointer to its lanes: to a row of the map's memory, or into an array. A varying array is an array
// of lanes. A strided value is its first number and the stride.
#pragma once

#include <overdub/implementation/execute/lowering.hpp>

#include <cstdint>
#include <vector>

namespace overdub::execute {

/// Allocates the lanes of a scalar: a row, or the destination that its hint names. Returns the word of the pointer.
offset new_lanes(function_lowering&, value_id);
/// Makes a scalar, a result of an operation, a pointer into an array. The array must not be written or released while the pointer is used:
/// if the last use of the array may precede that of the pointer, the pointer retains the array's buffer.
void new_alias(function_lowering&, value_id, value_id array, node_id);
/// Makes a value strided, and emits its lanes if they are needed.
void make_strided(function_lowering&, value_id, offset first, offset step);

/// The lanes of any scalar, broadcast for the operation that is lowered if it is uniform.
offset lanes_of(function_lowering&, value_id);
/// Any array as an array of lanes, likewise.
offset array_of_lanes(function_lowering&, value_id);
void emit_fill(function_lowering&, value_id scalar, offset to);
void emit_broadcast(function_lowering&, value_id array, offset to);
/// Ends what was broadcast for an operation.
void release_temporaries(function_lowering&);

/// The operand list of an access: the array, its rank, and for each of `count` indices {kind, word, word of the stride}.
std::vector<offset> indices_of_lanes(function_lowering const&, node_id, std::uint32_t count);
/// Ends the scalars that an operation uses last, so that its result may have their rows, if all operands have lanes of the result's size.
void end_lanes(function_lowering&, node_id);

} // namespace overdub::execute
