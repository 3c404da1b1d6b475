// Element-wise operations on scalars, or on vectors of them, with the semantics of call/native.hpp and core/ops.def.
#pragma once

#include "function.hpp"

namespace overdub::jit {

/// Emits an element-wise operation.
void emit_elementwise(function_state&, node_id n);
/// Computes an operation on operands of a type.
llvm::Value* elementwise(function_state&, ir::op code, ir::scalar s, llvm::ArrayRef<llvm::Value*> x);
/// Computes an operation on integers or booleans.
llvm::Value* integral(function_state&, ir::op code, llvm::ArrayRef<llvm::Value*> x);
/// Converts a scalar.
llvm::Value* converted(function_state&, ir::scalar from, ir::scalar to, llvm::Value* x);
/// The cosine for a sine, or the sine for a cosine, of the same number, if one function computes both.
node_id other_of_sine_and_cosine(function_state const&, node_id n);

} // namespace overdub::jit
