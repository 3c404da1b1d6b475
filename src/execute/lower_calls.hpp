// Lowering: calls, function values, and operations that leave the program.
#pragma once

#include <overdub/implementation/execute/lowering.hpp>

namespace overdub::execute {

/// A call of a function, or of a function value.
void lower_call(function_lowering&, node_id);
void lower_closure(function_lowering&, node_id);
void lower_reabstract(function_lowering&, node_id);
void lower_host(function_lowering&, node_id);
void lower_sample(function_lowering&, node_id);
void lower_assert(function_lowering&, node_id);

} // namespace overdub::execute
