// Emission of the operations of a function: which file emits which operation.
#pragma once

#include "function.hpp"

namespace overdub::jit {

/// Emits the operations of a region, without its yield, and what is released at its entry.
void emit_region(function_state&, region_id r);
/// Emits an operation, and what is released after it.
void emit_node(function_state&, node_id n);

} // namespace overdub::jit
