// Brings the functions of a module into the form that analyses expect.
#pragma once

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

namespace overdub::lifting {

/// Scalars in registers, two-way branches, none to code that only fails, no critical edges, no unreachable blocks, no aliases of functions.
/// Floating-point operations are not changed. O(instructions).
void prepare(llvm::Module& m);

/// The blocks from which control flow may reach a return.
llvm::SmallPtrSet<llvm::BasicBlock*, 16> returning_blocks(llvm::Function& f);

/// Whether a load reads a part of a struct that is passed or returned in registers: also a part that was never written, as that of an empty
/// std::optional.
bool is_part_of_struct(llvm::LoadInst const& i);

/// Whether a call says that its first operand, a bool, holds: prepare replaces branches to code that only fails by such calls. The second
/// operand says whether that code calls a function that does not return.
bool is_requirement(llvm::CallBase const& call);
llvm::FunctionCallee requirement_in(llvm::Module& m);

} // namespace overdub::lifting
