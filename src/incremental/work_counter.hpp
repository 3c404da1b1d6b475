// A cost model: derives from a program another one, which estimates the work of a run.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/ir/program.hpp>

namespace overdub::increments {

/// Returns a program with the arguments of the entry of `p`, whose result is the work of the entry, an i64, in additions: the sum of the
/// cost of each operation (ops.def) times the number of its executions, and of a cost for each array element that is written. The program
/// has only the operations of `p` on which trip counts depend, so that it is cheap if trip counts do not depend on data. The result depends
/// on the arguments only, and not on clocks, tiers or machines. O(operations).
ir::program work_counter_of(ir::program const& p);

} // namespace overdub::increments
