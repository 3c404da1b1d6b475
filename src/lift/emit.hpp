// Emits the body of a lifted function: walks its tree.
#pragma once

#include "plan.hpp"

#include <overdub/ir/program.hpp>

namespace overdub::lifting {

/// Emits the body of a function, which is in the program already, as are its callees. O(instructions + variables that branches and loops
/// change).
void emit(ir::program& p, module_plan const& all, function_plan const& plan);

} // namespace overdub::lifting
