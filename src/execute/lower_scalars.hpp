// Lowering: operations on scalars.
#pragma once

#include <overdub/implementation/execute/lowering.hpp>

namespace overdub::execute {

/// An elementwise operation, or the selection of an array or a function.
void lower_elementwise(function_lowering&, node_id);
void lower_convert(function_lowering&, node_id);

} // namespace overdub::execute
