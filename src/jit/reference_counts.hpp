// Emits what the analysis of references (ir/reference_counts.hpp) decided: retain and release operations, and copies of buffers that
// may have other references.
#pragma once

#include "function.hpp"

#include <vector>

namespace overdub::jit {

/// Releases values after an operation, which is emitted.
void release_after(function_state&, node_id n);
/// Releases values at the entry of a region.
void release_on_entry(function_state&, region_id r);

/// An operand, with a reference if the operation consumes one: the value's own, or a new one.
value passed(function_state&, node_id n, std::uint32_t operand);
/// Operands from `first` on.
std::vector<value> passed_values(function_state&, node_id n, std::uint32_t first, std::uint32_t count);
void retain_owner(function_state&, llvm::Value* owner);

/// Defines the result of an operation, a part that shares the buffer of operand 0.
void make_part(function_state&, node_id n, parts all);
/// The array that is operand 0 itself at its last use; else a new reference, or a copy if it will be written.
value reuse_array(function_state&, node_id n, bool writes);
/// Copies an array whose buffer has other references.
void make_unique(function_state&, ir::type t, value& x);

/// The bytes of an array, or of its parts from an axis on.
llvm::Value* byte_count(function_state&, ir::type t, value const& x, std::uint32_t first_axis);

} // namespace overdub::jit
