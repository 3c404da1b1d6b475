// What regions use of the values of enclosing regions, in gradients.
#pragma once

#include <overdub/implementation/ir/captures.hpp>
#include <overdub/implementation/ir/value_map.hpp>
#include <overdub/implementation/reverse/activity.hpp>
#include <overdub/ir/regions.hpp>
#include <overdub/ir/walk.hpp>

#include <vector>

namespace overdub::adjoint {

/// The varied values that the regions of an operation capture, without accumulators, and without arrays of which the regions use the length
/// alone: these get no contributions.
std::vector<value_id> varied_captures(function const& f, activity const& known, node_id n);

/// Whether an operation is nested in one that runs its region repeatedly.
bool is_in_loop(function const& f, node_id n);

/// The values that a region uses as a whole: it returns them, or updates an element of them. O(operations inside).
ir::value_set used_whole(function const& f, region_id r);

} // namespace overdub::adjoint
