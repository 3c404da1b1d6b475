// Speculative bounds checks: one check before a loop covers all iterations of it and of nested loops, by the smallest and
// the largest index. If an index is out of range, some iteration fails. The code then deoptimises: the interpreter runs the
// program again from the start, and reaches that iteration. Requires that a failing run can be repeated. Covers an access only
// if some iteration is certain to run it with the smallest index, and some iteration with the largest. Accesses in branches
// are not covered, nor accesses in loops whose trip counts are unknown or vary with the same loop as the index.
#pragma once

#include "function.hpp"

namespace overdub::jit {

/// Emits the check before a loop with trip count `count`, and marks the accesses that it covers. If the check fails, the code
/// deoptimises. Therefore the loop needs no second version with checks in each iteration.
void look_ahead(function_state&, region_id body, llvm::Value* count);

} // namespace overdub::jit
