// Inlines functions where arrays would be cut or copied at a call, and unrolls loops over small local arrays, so that these become scalars.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PassManager.h>

namespace overdub::lifting {

/// Inlines small functions into their callers, if they return a pointer, or receive a part of an array, a local array, or one array twice.
/// Scalars must be in registers. O(instructions) for the instructions that it leaves, at most 3,000 more in each function.
void inline_calls(llvm::Module& m);

/// Unrolls loops with few iterations whose index selects an element of a small local array. Returns whether there was one.
bool unroll_over_local_arrays(llvm::Function& f, llvm::FunctionAnalysisManager& analyses);

} // namespace overdub::lifting
