// Operations on arrays.
#pragma once

#include "function.hpp"

#include <span>

namespace overdub::jit {

void emit_array(function_state&, node_id n);
void emit_length(function_state&, node_id n);
void emit_at(function_state&, node_id n);
void emit_slice(function_state&, node_id n);
void emit_update(function_state&, node_id n);
void emit_add_to(function_state&, node_id n);
void emit_fill(function_state&, node_id n);
void emit_iota(function_state&, node_id n);
void emit_concat(function_state&, node_id n);
void emit_gather(function_state&, node_id n);

/// Allocates an array of rank 1 for `count` scalars.
value new_array(function_state&, ir::type t, llvm::Value* count, ir::op code);
/// The length of several arrays. Requires it to be equal.
llvm::Value* common_length(function_state&, std::span<value_id const> arrays, ir::op code);
void require_not_negative(function_state&, ir::op code, llvm::Value* n);

} // namespace overdub::jit
