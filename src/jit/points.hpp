// Outer-loop vectorisation of maps whose bodies have loops, or reduced maps, with a uniform trip count: eight elements
// at a time, where each value is a vector of eight. sums.cpp handles sums of many terms, by eight terms of one element
// at a time.
#pragma once

#include "map_plan.hpp"
#include "outputs.hpp"

namespace overdub::jit {

/// The code of all elements at once.
struct points {
  block end, next;
  parts sums;
};

/// Vectorises all elements if the trip counts fit, and leaves the insertion point at the code for others.
points begin_points(
    function_state&, node_id n, points_plan const& plan, std::vector<output> const& outputs,
    std::vector<summed> const& sums);
/// Joins it with the code for the others, at the insertion point.
void end_points(function_state&, points const& p, std::vector<summed> const& sums);

} // namespace overdub::jit
