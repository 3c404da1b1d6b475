// fold: constant folding. Operations on literals become literals, branches on literals the taken branch, loops without
// iterations their initial values, and arrays without elements empty arrays.
// Requires a valid program. Preserves results to the bit: it evaluates only what is the same on every machine, no
// elementary functions (except in programs with consistent mathematics), and nothing that throws or returns NaN. Preserves
// which error is thrown. Idempotent. Never raises the cost.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/ir/program.hpp>

#include <cstddef>

namespace overdub::pass {

/// Returns the number of replaced operations. O(operations); recursive over the depth of regions.
std::size_t fold(ir::program& p);

} // namespace overdub::pass
