// Lowering in lanes: operations on arrays.
#pragma once

#include <overdub/implementation/execute/lowering.hpp>

namespace overdub::execute {

void lower_at_in_lanes(function_lowering&, node_id);
void lower_update_in_lanes(function_lowering&, node_id);
/// An operation that creates an array of lanes from others, or from scalars.
void lower_new_array_in_lanes(function_lowering&, node_id);
void lower_add_to_in_lanes(function_lowering&, node_id);
/// Performs deferred additions early, after an iteration of an outermost loop with this body.
void emit_add_early(function_lowering&, region_id body);

} // namespace overdub::execute
