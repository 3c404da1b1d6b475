// Lowering: reductions.
#pragma once

#include <overdub/implementation/execute/lowering.hpp>

namespace overdub::execute {

/// A reduction by an operation or by a region, or the end of one that is computed with its map.
void lower_reduce(function_lowering&, node_id);

} // namespace overdub::execute
