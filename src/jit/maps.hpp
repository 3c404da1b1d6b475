// Maps.
#pragma once

#include "function.hpp"

namespace overdub::jit {

void emit_map(function_state&, node_id n);

} // namespace overdub::jit
