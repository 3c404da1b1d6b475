// A function in two halves: one gives what it gives, and what is needed to go backwards; the other goes backwards.
#pragma once

#include <overdub/contexts/reverse/gradient_program.hpp>

namespace overdub::contexts {

/// The entry of a program becomes the first half: behind its results it gives what the second half takes in front. What is kept of
/// calls of a function by itself would be function values: those are computed again.
/// Throws differentiation_error. O(operations, times how deep they are nested).
OVERDUB_DECL void keep_for_pullback(ir::program& p);

/// The entry becomes the second half: it takes what the first half gave behind its results, and a cotangent for each result; it
/// gives a cotangent for each parameter, and 0 or an empty array for those that have no derivatives.
OVERDUB_DECL void pull_back(ir::program& p);

} // namespace overdub::contexts

#if OVERDUB_HEADER_ONLY
#include <overdub/contexts/reverse/pullback_program.ipp>
#endif
