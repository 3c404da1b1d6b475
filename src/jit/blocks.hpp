// Loop fission of maps whose elements end in elementary functions with vector versions, after code that is not
// vectorised: loops, calls, data-dependent reads. In each block of elements, the first part runs element by element,
// the second in vectors of eight.
#pragma once

#include "map_plan.hpp"
#include "outputs.hpp"

namespace overdub::jit {

void emit_map_in_blocks(
    function_state&, node_id n, blocks_plan const& plan, std::vector<output> const& outputs,
    std::vector<summed> const& sums);

} // namespace overdub::jit
