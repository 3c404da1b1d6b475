// Brings the functions of a module into the form that analyses expect.
#pragma once

#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Module.h>

namespace overdub::lifting {

/// Scalars in registers, two-way branches, none to code that only fails, no critical edges, no unreachable blocks, no aliases of functions.
/// Floating-point operations are not changed. O(instructions).
void prepare(llvm::Module& m);

/// Whether a call says that its first operand, a bool, holds: prepare replaces branches to code that only fails by such calls. The second
/// operand says whether that code calls a function that does not return.
bool is_requirement(llvm::CallBase const& call);
llvm::FunctionCallee requirement_in(llvm::Module& m);

} // namespace overdub::lifting
