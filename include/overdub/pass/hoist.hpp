// hoist: loop-invariant code motion, out of several loops where possible.
// Moves pure operations that terminate. Moves operations that may fail only out of loops with a known positive trip count,
// and only if no other operation may fail first. Requires a valid program. Preserves which error is thrown. Idempotent.
// Never raises the cost, except for loops that run no iteration.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/ir/program.hpp>

#include <cstddef>

namespace overdub::pass {

/// Returns the number of moves; an operation that leaves two loops counts twice. O(operations), if few operations leave a
/// region together with their users; recursive over the depth of regions, of which 62 are distinguished.
std::size_t hoist(ir::program& p);

} // namespace overdub::pass
