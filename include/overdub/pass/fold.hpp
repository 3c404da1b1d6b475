// fold: operations on literals become literals, branches on literals the branch that is taken, loops over nothing what they
// begin with, and what has no elements an empty array.
// Needs a valid program. Keeps results to the bit: only what is the same on every machine is computed, no elementary function
// (but for those of consistent mathematics) and nothing that throws or gives NaN. Keeps which error is thrown. Idempotent. Lowers the cost, never raises it.
#pragma once

#include <overdub/header_only.hpp>
#include <overdub/ir/program.hpp>

#include <cstddef>

namespace overdub::pass {

/// Returns how many operations were replaced. O(operations); recursive over the depth of regions.
OVERDUB_DECL std::size_t fold(ir::program& p);

} // namespace overdub::pass

#if OVERDUB_HEADER_ONLY
#include <overdub/pass/fold.ipp>
#endif
