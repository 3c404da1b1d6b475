// Lowering of vectorised maps: the body is lowered twice, in lanes and element by element.
#pragma once

#include <overdub/implementation/execute/lowering.hpp>

namespace overdub::execute {

/// A map, or a loop whose iterations are independent, whose body fits the plan.
void lower_in_blocks(function_lowering&, node_id, lane_plan const&);

} // namespace overdub::execute
