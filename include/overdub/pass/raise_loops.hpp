// raise_loops: loops whose iterations are independent, sums apart, become maps and reductions. Loops of C++ that are lifted, and loops that
// users stage, so are vectorised, batched and updated element by element.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/ir/program.hpp>

#include <cstddef>

namespace overdub::pass {

/// Replaces each counted loop by a map of what its iterations compute, if its loop-carried values are sums and other combinations of one
/// term an iteration, counters, or arrays of which iteration i replaces element i; and the combinations by reductions, of floating-point
/// numbers in order, so that results are equal to the bit. A map stores its results: a loop of n iterations takes memory for n terms. Not
/// a pass of the default pipeline. Returns the number of raised loops. Requires a valid program. O(operations, and their nesting).
std::size_t raise_loops(ir::program& p);

} // namespace overdub::pass
