// Lowering in lanes: branches, loops with uniform trip counts, and accumulators.
#pragma once

#include <overdub/implementation/execute/lowering.hpp>

namespace overdub::execute {

/// A branch of all lanes, or one in which lanes take different branches.
void lower_if_in_lanes(function_lowering&, node_id);
void lower_loop_in_lanes(function_lowering&, node_id);
void lower_while_in_lanes(function_lowering&, node_id);
void lower_accumulate_in_lanes(function_lowering&, node_id);

} // namespace overdub::execute
