// reabstract_at_callers: moves reabstractions across function boundaries. Where a function reabstracts a parameter, its
// callers and the closures of it do so instead; where it returns a value that it has just reabstracted, it returns the
// original, and its callers reabstract it. At the callers, reabstractions can cancel, or move on.
// Requires a valid program; changes functions other than the entry. Preserves semantics. Captures are reabstracted once
// instead of by each application, which the estimate of costs counts as more work for the function that captures.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/ir/program.hpp>

#include <cstddef>

namespace overdub::pass {

/// Returns the number of parameters and results with new types. O(operations).
std::size_t reabstract_at_callers(ir::program& p);

} // namespace overdub::pass
