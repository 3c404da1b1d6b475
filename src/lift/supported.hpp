// Whether the instructions and the signature of a function can be lifted, before its memory and control flow are analysed.
#pragma once

#include <llvm/IR/Function.h>

namespace overdub::lifting {

/// Throws refusal at the first part of a function that is not lifted. Calls of functions that the module defines are no problem here.
/// `in_memory`: for linear memory.
void check_supported(llvm::Function const& f, bool in_memory);

} // namespace overdub::lifting
