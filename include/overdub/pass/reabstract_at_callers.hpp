// reabstract_at_callers: where a function makes a parameter a function value of another type, its callers do, and those that
// capture it; where it returns one that it has just made so, it returns what that was, and its callers make it so. There it
// cancels with what they do, or moves on to theirs.
// Needs a valid program; changes functions behind the entry, where there is one. Keeps everything that can be seen. What is
// captured is reabstracted once, and not by each application: the estimate of costs sees that only as more work for who
// captures.
#pragma once

#include <overdub/header_only.hpp>
#include <overdub/ir/program.hpp>

#include <cstddef>

namespace overdub::pass {

/// Returns how many parameters and results got other types. O(operations).
OVERDUB_DECL std::size_t reabstract_at_callers(ir::program& p);

} // namespace overdub::pass

#if OVERDUB_HEADER_ONLY
#include <overdub/pass/reabstract_at_callers.ipp>
#endif
