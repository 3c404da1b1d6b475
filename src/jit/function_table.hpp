// The LLVM functions of a program's functions, and the functions that are still to be compiled.
#pragma once

#include "values.hpp"

#include <overdub/ir/calls.hpp>

#include <optional>
#include <string>
#include <vector>

namespace overdub::jit {

class function_table {
public:
  /// `vector_bits`: the widest vectors of the target.
  function_table(
      ir::program const& p, ir::call_components const& calls, llvm::Module& m, unsigned vector_bits);

  /// A new internal function.
  llvm::Function*
  create(std::string const& name, llvm::ArrayRef<llvm::Type*> parameters, llvm::ArrayRef<ir::type> results);
  /// The LLVM function of a callee. The callee is compiled later, if it is not yet compiled.
  llvm::Function* function_for(function_id f);
  /// A function to compile next; nothing if all functions are compiled.
  std::optional<function_id> next_pending();

  llvm::Module& module() const { return module_; }
  llvm::LLVMContext& context() const { return module_.getContext(); }

private:
  ir::program const& p_;
  ir::call_components const& calls_;
  llvm::Module& module_;
  unsigned const vector_bits_;
  std::vector<llvm::Function*> made_; // for each function
  std::vector<function_id> pending_;
};

} // namespace overdub::jit
