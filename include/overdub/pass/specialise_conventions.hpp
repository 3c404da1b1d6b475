// specialise_conventions: where a function value is reabstracted for a call of a function that applies it, calls a copy of
// that function which takes the original. A copy is made only if no reabstraction remains in it: the parameter is applied,
// reabstracted again, or passed to functions for which the same holds.
// Does nothing without an entry. Requires a valid program. Preserves semantics. Never raises the cost. Makes at most one
// copy for each function, parameter and type, and erases functions without callers.
#pragma once

#include <overdub/header_only.hpp>
#include <overdub/ir/program.hpp>

#include <cstddef>

namespace overdub::pass {

/// Copies functions of at most `limit` operations. Returns the number of calls and closures with another callee.
/// O(operations, and those copied); more where functions pass parameters on in long chains.
OVERDUB_DECL std::size_t specialise_conventions(ir::program& p, std::size_t limit = 200);

} // namespace overdub::pass

#if OVERDUB_HEADER_ONLY
#include <overdub/pass/specialise_conventions.ipp>
#endif
