// Lowering in lanes: elementwise operations on numbers that vary.
#pragma once

#include <overdub/implementation/execute/lowering.hpp>

namespace overdub::execute {

void lower_elementwise_in_lanes(function_lowering&, node_id);
void lower_convert_in_lanes(function_lowering&, node_id);
/// Emits an operation on words that point to lanes.
void emit_in_lanes(function_lowering&, ir::op, ir::scalar, offset to, offset x, offset y = 0, offset z = 0);

} // namespace overdub::execute
