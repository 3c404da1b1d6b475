// Plans all functions of a module, and says why others are refused.
#pragma once

#include "plan.hpp"

#include <overdub/lift.hpp>

#include <llvm/IR/Module.h>
#include <vector>

namespace overdub::lifting {

struct planned_module {
  module_plan plan;
  std::vector<refused_function> refused;
};

/// A function whose pointers can be followed to one array each has arrays as parameters. Others, and what they call, are planned in linear
/// memory.
planned_module plan_module(llvm::Module const& m, lift_options const& o);

} // namespace overdub::lifting
