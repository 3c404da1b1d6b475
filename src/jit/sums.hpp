// Vectorised sums of maps with straight-line bodies: eight elements at a time, each value a vector of eight. Other
// results of the map are stored as vectors, too.
#pragma once

#include "map_plan.hpp"
#include "outputs.hpp"

namespace overdub::jit {

/// `checks` are those of the plan.
void emit_vector_sums(
    function_state&, node_id n, check_plan const& checks, std::vector<summed> const& sums,
    std::vector<output> const& outputs);

} // namespace overdub::jit
