// Lowering in lanes: nested maps, and reductions. A map whose result is only summed is added up while it is computed.
#pragma once

#include <overdub/implementation/execute/lowering.hpp>

namespace overdub::execute {

void lower_map_in_lanes(function_lowering&, node_id);
void lower_reduce_in_lanes(function_lowering&, node_id);

} // namespace overdub::execute
