// cancel_reabstractions: simplifies reabstractions, the conversions of function values to other types (Swift's term). Two
// in a row become one; one that restores the original type goes away; a closure is created with the type that it is
// converted to; an application of a reabstracted function value applies the original, and reabstracts arguments and
// results.
// Requires a valid program. Preserves semantics. Idempotent. Never raises the cost.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/ir/program.hpp>

#include <cstddef>

namespace overdub::pass {

/// Returns how many operations changed. O(operations).
std::size_t cancel_reabstractions(ir::program& p);

} // namespace overdub::pass
