// defunctionalise: represents function values as data (Reynolds, Definitional interpreters for higher-order programming
// languages, 1972). A function value with several possible callees becomes a tag, and slots for its captures; an
// application becomes a call of a function that branches on the tag. Reabstractions disappear. Transformations of data,
// such as reverse differentiation, then need no rules for function values.
// Does nothing without an entry. Requires a valid program. Preserves semantics. It leaves a program unchanged, with a note
// that gives the reason, if function values cross the entry or the host interface; if closures capture such closures again
// without bound; if arrays of function values captured arrays; or if one of several closures captured keys or host objects.
// Erases unreachable functions. Idempotent. May raise the cost: captures are copied with the function value.
#pragma once

#include <overdub/header_only.hpp>
#include <overdub/ir/program.hpp>

#include <cstddef>

namespace overdub::pass {

/// Returns the number of operations that created, applied or reabstracted function values; 0 if there are none, or if they
/// stay. O(operations + closures × (function values and copies of them)).
OVERDUB_DECL std::size_t defunctionalise(ir::program& p);

} // namespace overdub::pass

#if OVERDUB_HEADER_ONLY
#include <overdub/pass/defunctionalise.ipp>
#endif
