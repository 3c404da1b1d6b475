// dce: dead-code elimination by liveness: an operation is live if it may fail, has a side effect, or computes an operand of a live one (the
// mark phase of Cytron et al., 1991, section 7.1). Erases unused pure operations, unused results of operations with regions, loop-carried
// values that only their own next values use, and, in a program with an entry, functions that the entry does not reach.
// Requires a valid program. Preserves operations that may fail or have side effects, in their order, and the signatures of
// functions. Renumbers the values of changed functions without gaps. Idempotent. Never raises the cost.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/ir/program.hpp>

#include <cstddef>

namespace overdub::pass {

/// Returns the number of erased operations, results and functions. O(operations); recursive over the depth of regions.
std::size_t dce(ir::program& p);

/// Erases functions that are not reachable from the entry, if there is one. Returns how many. O(operations).
std::size_t drop_unreached_functions(ir::program& p);

} // namespace overdub::pass
