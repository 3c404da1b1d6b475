// Function values: buffers {index of the function, number of captured words, the words}, and their calling
// conventions. Direct ones are called by a switch over all functions of the type, with arguments in registers;
// indirect ones by the same switch, with arguments and results in words of memory; boxed ones through a table, with
// one signature for all types.
#pragma once

#include "function_table.hpp"

#include <overdub/execute/code.hpp>
#include <overdub/implementation/ir/parameter_ownership.hpp>

#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

namespace overdub::jit {

class function_values {
public:
  /// `code`: has the layouts of captures.
  function_values(
      ir::program const& p, ir::parameter_ownership const& owners, function_table& functions,
      execute::code& code);

  /// The index by which closures of this type, with `captured` captures, identify a function.
  std::uint32_t closure_number(function_id f, std::uint32_t captured, ir::type function);
  /// The function that applies function values of this type: (machine, function value, arguments) for the direct
  /// convention; else (machine, function value, words of arguments, words of results).
  llvm::Function* applier_for(ir::type function);
  /// Defines these functions. Call it after all functions are compiled.
  void fill();

private:
  struct closure {
    function_id callee;
    std::uint32_t captured; // number of captured parameters
    ir::type type;
    std::uint32_t number;
  };
  void fill_appliers();
  void fill_applier(ir::type function, llvm::Function* f);
  void fill_boxed_table();
  llvm::GlobalVariable* boxed_table();
  void call_closure(llvm::IRBuilder<>& b, closure const& c, llvm::Function* f);

  ir::program const& p_;
  ir::parameter_ownership const& owners_;
  function_table& functions_;
  execute::code& code_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint16_t>, std::uint32_t> closure_numbers_;
  std::vector<closure> closures_;
  llvm::GlobalVariable* boxed_ = nullptr;                                  // by the index of the function
  std::map<std::uint16_t, std::pair<ir::type, llvm::Function*>> appliers_; // by the index of the type
};

} // namespace overdub::jit
