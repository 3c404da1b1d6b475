// The variables of a function: values that are used in another block than their own, arrays that it writes, its result, and the auxiliary
// variables of its tree. Which of them a branch or loop changes, for what follows, is known from their liveness on the tree.
#pragma once

#include "headed_loops.hpp"
#include "memory.hpp"
#include "structure.hpp"

#include <cstdint>
#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/DenseMap.h>
#include <map>
#include <vector>

namespace overdub::lifting {

struct function_variables {
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  std::vector<ir::type> types; // of each variable
  llvm::DenseMap<llvm::Value const*, std::uint32_t>
      of_value;                         // instructions; others are used in their block alone
  std::vector<std::uint32_t> of_object; // none: the function does not write it
  std::vector<std::uint32_t> results;   // what the function returns
  std::uint32_t first_auxiliary = 0;
  std::vector<std::vector<std::uint32_t>>
      changed; // by node: what a branch or selection yields, what a loop carries

  std::uint32_t of(llvm::Value const* v) const {
    auto const at = of_value.find(v);
    return at == of_value.end() ? none : at->second;
  }
};

/// Throws refusal if a function has too many variables. O(size of the tree × variables / 64).
function_variables analyse_variables(
    llvm::Function const& f, function_memory const& memory, parameter_uses const& parameters, tree const& t,
    llvm::ArrayRef<llvm::BasicBlock const*> blocks, std::map<std::uint32_t, headed_loop> const& headed);

} // namespace overdub::lifting
