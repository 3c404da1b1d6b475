// Lowering in lanes: operations whose results vary between the elements of a block.
#pragma once

#include <overdub/implementation/execute/lowering.hpp>

namespace overdub::execute {

/// An operation of a body that is vectorised, for all lanes of a block.
void lower_in_lanes(function_lowering&, node_id);

} // namespace overdub::execute
