// specialise_conventions: a function that applies a parameter, and is given a function value that was reabstracted for it, is
// called in a copy that takes that value as it was. The copy is made where nothing is left of the reabstraction in it: the
// parameter is applied, reabstracted on, or handed to functions of which the same holds.
// Needs a valid program; does nothing in one without an entry. Keeps everything that can be seen. Lowers the cost, never
// raises it. One copy is made for each function, parameter and type; functions that nothing calls any more are erased.
#pragma once

#include <overdub/header_only.hpp>
#include <overdub/ir/program.hpp>

#include <cstddef>

namespace overdub::pass {

/// Functions of at most `most` operations are copied. Returns how many calls and closures name others now. O(operations, and
/// those copied); more where functions hand what they are given on to one another in long chains.
OVERDUB_DECL std::size_t specialise_conventions(ir::program& p, std::size_t most = 200);

} // namespace overdub::pass

#if OVERDUB_HEADER_ONLY
#include <overdub/pass/specialise_conventions.ipp>
#endif
