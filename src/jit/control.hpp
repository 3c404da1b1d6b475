// Branches, loops, accumulators, protection.
#pragma once

#include "function.hpp"

namespace overdub::jit {

void emit_if(function_state&, node_id n);
void emit_loop(function_state&, node_id n);
void emit_while(function_state&, node_id n);
void emit_accumulate(function_state&, node_id n);
void emit_protect(function_state&, node_id n);

} // namespace overdub::jit
