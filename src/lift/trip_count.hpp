// Emits the trip count of a counted loop, and its index.
#pragma once

#include "headed_loops.hpp"

#include <overdub/ir/cursor.hpp>

namespace overdub::lifting {

/// What the loop compares with its bound in the first iteration, by the index of that.
ir::value_id first_compared(ir::cursor& c, headed_loop const& loop, ir::value_id start);

/// The number of iterations; not positive if there is none. `first` is compared with the bound in the first iteration.
ir::value_id trip_count(ir::cursor& c, headed_loop const& loop, ir::value_id first, ir::value_id bound);

/// A trip count that is not negative.
ir::value_id iterations(ir::cursor& c, ir::value_id trip_count);

/// The index after this many iterations.
ir::value_id index_after(ir::cursor& c, headed_loop const& loop, ir::value_id start, ir::value_id iterations);

} // namespace overdub::lifting
