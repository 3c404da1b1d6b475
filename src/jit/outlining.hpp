// Outlining of long straight-line code.
#pragma once

#include "llvm.hpp"

namespace overdub::jit {

/// Register allocation takes time proportional to a function's short live ranges times its calls. In functions with many
/// calls, straight-line parts become functions with a bounded number of calls; values that several parts use are in the
/// frame of the first function. For optimised modules without debug locations, after inlining. O(instructions).
void outline_long_functions(llvm::Module&);

/// Splits a block before some of its instructions, which are in order. O(instructions of the block).
void split_block(llvm::ArrayRef<llvm::Instruction*> at);

} // namespace overdub::jit
