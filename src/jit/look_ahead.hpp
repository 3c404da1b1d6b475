// Speculative bounds checks: one check before a loop covers all iterations of it and of nested loops
// (ir/index_ranges.hpp). If an index is out of range, some iteration fails. The code then deoptimises: the interpreter
// runs the program again from the start, and reaches that iteration. Requires that a failing run can be repeated.
#pragma once

#include "function.hpp"

namespace overdub::jit {

/// Emits the check before the loop with this body, and marks the accesses that it covers. The loop needs no second
/// version with checks in each iteration, since the code deoptimises. Emits nothing if a failing run cannot be repeated.
void look_ahead(function_state&, region_id body);

} // namespace overdub::jit
