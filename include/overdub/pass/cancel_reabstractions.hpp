// cancel_reabstractions: of function values that become ones of another type, and of a third, the way between is left out; what
// comes back to its first type was never another; a closure has the type at once that it becomes; and what is applied is
// applied as what it was, its arguments and results reabstracted in the place of it.
// Needs a valid program. Keeps everything that can be seen. Idempotent. Lowers the cost, never raises it.
#pragma once

#include <overdub/header_only.hpp>
#include <overdub/ir/program.hpp>

#include <cstddef>

namespace overdub::pass {

/// Returns how many operations changed. O(operations).
OVERDUB_DECL std::size_t cancel_reabstractions(ir::program& p);

} // namespace overdub::pass

#if OVERDUB_HEADER_ONLY
#include <overdub/pass/cancel_reabstractions.ipp>
#endif
