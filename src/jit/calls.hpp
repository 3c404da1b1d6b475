// Calls, function values, host functions and random choices.
#pragma once

#include "function.hpp"

namespace overdub::jit {

void emit_call(function_state&, node_id n);
void emit_apply(function_state&, node_id n);
void emit_closure(function_state&, node_id n);
void emit_host(function_state&, node_id n);
void emit_assert(function_state&, node_id n);

} // namespace overdub::jit
