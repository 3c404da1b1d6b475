// The functions of machine code that count references.
#pragma once

#include "function_table.hpp"

namespace overdub::jit {

/// A function that retains an owner, which may be null; always inlined.
llvm::Function* retainer(function_table&);
/// A function that releases an array's owner, which may be null, or a function value, with its captures at the last
/// reference.
llvm::Function* releaser(function_table&, ir::type);

} // namespace overdub::jit
