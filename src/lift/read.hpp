// Reads modules of LLVM from untrusted bytes.
#pragma once

#include <overdub/lift.hpp>

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <memory>
#include <span>
#include <string_view>

namespace overdub::lifting {

/// A module, in a context of its own.
struct read_module {
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
};

/// Reads modules in bitcode or textual IR, verifies them by LLVM's verifier, and links them to one. Throws lift_error.
read_module read(std::span<std::string_view const> modules, lift_options const& o);

} // namespace overdub::lifting
