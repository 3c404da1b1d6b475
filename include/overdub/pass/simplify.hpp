// simplify: rewrites operations by the rules in rules.hpp, and folds constants, until no rule applies.
// Requires a valid program. Preserves results to the bit (except payloads of NaNs), and which error is thrown. Leaves dead
// code for dce. Never raises the cost.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/ir/program.hpp>

#include <cstddef>

namespace overdub::pass {

/// Returns the number of rewritten operations. O(operations), if constants do not propagate along long chains of
/// loop-carried values; recursive over the depth of regions.
std::size_t simplify(ir::program& p);

} // namespace overdub::pass
