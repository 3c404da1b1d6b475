// What the analyses know of a function that is lifted. Emission reads it, and cannot fail.
#pragma once

#include "headed_loops.hpp"
#include "linear_memory.hpp"
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

/// The plans of all functions that are lifted. A function may have two: one whose pointers are arrays, and one in linear memory.
struct module_plan {
  using numbers = llvm::DenseMap<llvm::Function const*, std::uint32_t>;

  std::vector<function_plan> functions;
  parameter_uses parameters;
  numbers with_arrays, in_memory; // in `functions`

  linear_layout layout;
  ir::function_id initial = ir::nothing, allocate = ir::nothing,
                  release = ir::nothing; // of the allocator, if there is linear memory

  function_plan const* of(llvm::Function const* f) const { return find(with_arrays, f); }
  function_plan const* linear_of(llvm::Function const* f) const { return find(in_memory, f); }

private:
  function_plan const* find(numbers const& all, llvm::Function const* f) const {
    auto const at = all.find(f);
    return at == all.end() ? nullptr : &functions[at->second];
  }
};

} // namespace overdub::lifting
