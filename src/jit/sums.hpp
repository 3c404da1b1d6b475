// Vectorised sums of maps with straight-line bodies: eight elements at a time, each value a vector of eight. Other
// results of the map are stored as vectors, too.
#pragma once

#include "outputs.hpp"

namespace overdub::jit {

/// Returns whether the map was vectorised.
bool emit_vector_sums(
    function_state&, node_id n, std::vector<summed> const& sums, std::vector<output> const& outputs);

} // namespace overdub::jit
