// Long straight code as several functions.
#pragma once

#include "llvm.hpp"

namespace overdub::jit {

/// Register allocation takes time that grows with the product of a function's short live ranges and its calls. Of functions with many
/// calls, straight parts become functions of their own, of a bounded number of calls; values that several parts use go through memory of
/// the first function's frame. For optimised modules without debug locations: nothing is to be inlined afterwards. O(instructions).
void outline_long_functions(llvm::Module&);

/// Cuts a block in front of some of its instructions, which are in order. O(instructions of the block).
void split_block(llvm::ArrayRef<llvm::Instruction*> at);

} // namespace overdub::jit
