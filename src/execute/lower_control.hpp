// Lowering: branches, loops, maps, accumulators, protected regions.
#pragma once

#include <overdub/implementation/execute/lowering.hpp>

namespace overdub::execute {

void lower_if(function_lowering&, node_id);
/// A counted loop, which is vectorised if its iterations are independent.
void lower_loop(function_lowering&, node_id);
void lower_while(function_lowering&, node_id);
/// A map, which is vectorised if its body fits.
void lower_map(function_lowering&, node_id);
void lower_accumulate(function_lowering&, node_id);
void lower_protect(function_lowering&, node_id);

} // namespace overdub::execute
