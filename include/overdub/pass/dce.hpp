// dce: drops operations that nothing needs, results of operations with regions that nothing uses, what a loop carries only
// for itself, and, in a program with an entry, functions that it does not reach.
// Needs a valid program. Keeps what may fail or has effects that others see, in order, and every function's signature.
// Functions that lose something are numbered densely. Idempotent. Lowers the cost, never raises it.
#pragma once

#include <overdub/header_only.hpp>
#include <overdub/ir/program.hpp>

#include <cstddef>

namespace overdub::pass {

/// Returns how many operations, results and functions were dropped. O(operations); recursive over the depth of regions.
OVERDUB_DECL std::size_t dce(ir::program& p);

/// In a program with an entry, erases functions that it does not reach. Returns how many. O(operations).
OVERDUB_DECL std::size_t drop_unreached_functions(ir::program& p);

} // namespace overdub::pass

#if OVERDUB_HEADER_ONLY
#include <overdub/pass/dce.ipp>
#endif
