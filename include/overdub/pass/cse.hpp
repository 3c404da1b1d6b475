// cse: common-subexpression elimination. An operation that is congruent to a dominating one is erased, and its uses become
// the results of the earlier one. Includes operations that may fail (the earlier one ran without failing) and operations
// with regions.
// Requires a valid program. Preserves the order of operations, and which error is thrown. Idempotent. Never raises the
// cost.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/ir/program.hpp>

#include <cstddef>

namespace overdub::pass {

/// Returns the number of erased operations. O(operations).
std::size_t cse(ir::program& p);

} // namespace overdub::pass
