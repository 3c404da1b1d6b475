// Reads modules of LLVM from untrusted bytes.
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

} // namespace overdub::lifting
