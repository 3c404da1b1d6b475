// raise_reabstractions: moves reabstractions of a branch's or loop's results after it. Function values that both branches,
// or each iteration, reabstract from one type are returned unconverted, and reabstracted once; likewise for select and
// protect. A closure among them is created with the original type. A reabstraction that both branches share moves before
// them.
// Requires a valid program. Preserves semantics. Never raises the cost; only values without other uses are moved. hoist
// moves loop-invariant reabstractions before the loop.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/ir/program.hpp>

#include <cstddef>

namespace overdub::pass {

/// Returns the number of results that are returned unconverted now. O(operations).
std::size_t raise_reabstractions(ir::program& p);

} // namespace overdub::pass
