// specialise_conventions: if a function value is reabstracted to pass it to a function that applies it, calls a copy of the
// function that accepts the original value. Makes a copy only if it needs no reabstraction: its parameter is applied, reabstracted
// again, or passed to functions for which the same holds.
// Does nothing if the program has no entry. Requires a valid program. Preserves semantics. Never increases the cost. Makes at most
// one copy for each function, parameter and type, and erases functions without callers.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/ir/program.hpp>

#include <cstddef>

namespace overdub::pass {

/// Copies functions of at most `limit` operations. Returns the number of calls and closures with another callee.
/// O(operations, including copied ones); more if functions pass parameters through long chains of calls.
std::size_t specialise_conventions(ir::program& p, std::size_t limit = 200);

} // namespace overdub::pass
