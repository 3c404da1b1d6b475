// Reads modules of LLVM from untrusted bytes, and prepares their functions for the lifter.
#pragma once

#include <overdub/lift.hpp>

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <memory>
#include <string_view>

namespace overdub::lifting {

/// A module, in a context of its own.
struct read_module {
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
};

/// Reads bitcode or textual IR, and verifies it by LLVM's verifier. Throws lift_error.
read_module read(std::string_view bytes, lift_options const& o);

/// Brings the functions of a module into the form that analyses expect: scalars in registers, two-way branches, no critical edges, no
/// unreachable blocks. Floating-point operations are not changed.
void prepare(llvm::Module& m);

} // namespace overdub::lifting
