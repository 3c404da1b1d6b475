// What the analyses know of a function that is lifted. Emission reads it, and cannot fail.
#pragma once

#include "headed_loops.hpp"
#include "memory.hpp"
#include "structure.hpp"
#include "variables.hpp"

#include <overdub/ir/id.hpp>

#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/Function.h>
#include <map>
#include <vector>

namespace overdub::lifting {

struct function_plan {
  llvm::Function const* function = nullptr;
  ir::function_id id = ir::nothing; // in the program
  function_memory memory;
  std::vector<llvm::BasicBlock const*> blocks; // by the numbers of the tree
  lifting::tree tree;
  std::map<std::uint32_t, headed_loop> headed;
  function_variables variables;
};

/// The plans of all functions that are lifted.
struct module_plan {
  std::vector<function_plan> functions;
  parameter_uses parameters;
  llvm::DenseMap<llvm::Function const*, std::uint32_t> number; // in `functions`

  function_plan const* of(llvm::Function const* f) const {
    auto const at = number.find(f);
    return at == number.end() ? nullptr : &functions[at->second];
  }
};

} // namespace overdub::lifting
