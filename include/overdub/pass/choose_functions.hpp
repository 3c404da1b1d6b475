// choose_functions: replaces reads of elements of arrays of function values by a selection among the values that the array
// was created from. Executors do not support such arrays, and afterwards the applied functions are known.
// Requires a valid program. Preserves semantics; an index out of range still fails. Idempotent. May raise the cost, by a
// comparison for each element.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/ir/program.hpp>

#include <cstddef>

namespace overdub::pass {

/// Returns the number of replaced reads. O(operations, and elements of such arrays for each read).
std::size_t choose_functions(ir::program& p);

} // namespace overdub::pass
