// Lowering: operations on arrays.
#pragma once

#include <overdub/implementation/execute/lowering.hpp>

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace overdub::execute {

/// An operation that creates its result: array, fill, iota, concat, gather.
void lower_new_array(function_lowering&, node_id);
void lower_length(function_lowering&, node_id);
void lower_at(function_lowering&, node_id);
void lower_slice(function_lowering&, node_id);
void lower_update(function_lowering&, node_id);
void lower_add_to(function_lowering&, node_id);

// ---- for operations on arrays, also in lanes

/// The word of the length that arrays have in common, which the caller frees if there are several.
offset common_length_of(function_lowering&, std::span<value_id const> arrays, std::string_view op);
/// The operand list of an access: the array, its rank, the number of indices, the indices.
std::vector<offset> indexed(function_lowering const&, node_id, std::uint32_t indices);
/// Emits a new reference to the buffer of operand 0, if the result of an operation is a part that shares it.
void retain_part(function_lowering&, node_id);
/// The result has the words of operand 0, an array, at its last use; else it is a copy of the handle, whose buffer is copied when written.
/// Parameters stay unchanged.
void reuse_array(function_lowering&, node_id);

} // namespace overdub::execute
