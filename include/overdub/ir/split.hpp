// Outlining: moves operations into a new function.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/ir/cursor.hpp>

#include <string_view>

namespace overdub::ir {

/// Moves the operations from `first` to `last`, of one region, into a new function, and calls it in their place. Values
/// from outside become parameters, values used outside results. Returns the call. Throws error, without a change, if the
/// name is taken, if the operations are not consecutive in one region, without its yield, or if they use an accumulator
/// from outside. O(functions, operations moved and their uses). Invalidates references to functions.
node_id split(cursor& c, node_id first, node_id last, std::string_view name);

} // namespace overdub::ir
