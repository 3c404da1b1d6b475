// Structs of floats: the ABI passes two floats in one vector register. Here each float is a parameter or a result of its own.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/Module.h>

namespace overdub::lifting {

/// Splits the pairs of floats that functions receive and return, and those that they load and store to pass them on.
void split_float_pairs(llvm::Module& m);

/// Whether a parameter was the first float of a pair.
bool begins_pair(llvm::Argument const& a);

} // namespace overdub::lifting
