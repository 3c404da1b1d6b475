// The functions of a lifted program that allocate and release linear memory.
#pragma once

#include "linear_memory.hpp"
#include "plan.hpp"

#include <overdub/ir/program.hpp>

namespace overdub::lifting {

/// Adds them to a program, and the function without parameters that returns the memory before the first allocation. Blocks are allocated
/// one after another. A released block becomes free when all blocks after it are released, as temporary objects are; its cells become unset.
void add_allocator(ir::program& p, linear_layout const& layout, module_plan& plan);

} // namespace overdub::lifting
