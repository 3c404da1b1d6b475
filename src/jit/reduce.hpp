// Reductions. The order of the operations is part of their meaning (control/reduce.hpp): sums of floating-point
// numbers use eight interleaved partial sums, other reductions a balanced tree.
#pragma once

#include "function.hpp"

namespace overdub::jit {

void emit_reduce(function_state&, node_id n);

} // namespace overdub::jit
