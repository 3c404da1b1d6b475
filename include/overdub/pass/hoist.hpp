// hoist: operations that give the same in every turn of a loop are moved in front of it, out of several loops where they can be.
// Moves what is pure and ends; what may fail only out of loops that surely run, and only where it is the first that
// may. Needs a valid program. Keeps which error is thrown. Idempotent. Lowers the cost, never raises it; a loop that never
// runs pays for what stands in front of it.
#pragma once

#include <overdub/header_only.hpp>
#include <overdub/ir/program.hpp>

#include <cstddef>

namespace overdub::pass {

/// Returns how many operations were moved, one that leaves two loops counted twice. O(operations), where few are moved out
/// of one region together with others that use them; recursive over the depth of regions, of which 62 are looked at.
OVERDUB_DECL std::size_t hoist(ir::program& p);

} // namespace overdub::pass

#if OVERDUB_HEADER_ONLY
#include <overdub/pass/hoist.ipp>
#endif
