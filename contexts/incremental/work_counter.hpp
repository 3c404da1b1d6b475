// A cost model for programs: the program that counts the operations of another one.
#pragma once

#include <overdub/header_only.hpp>
#include <overdub/ir/program.hpp>

namespace overdub::contexts::increments {

/// The program that counts the work of the entry of `p`, with the same arguments. The result is an i64, in additions: the cost of each
/// operation, by the table of operations, times how often it runs, and the array elements that are written. Operations on which no trip
/// count depends are not copied, so the count is cheap where trip counts do not depend on data. The result depends on the arguments
/// alone, not on clocks, tiers or machines. O(operations).
OVERDUB_DECL ir::program work_counter_of(ir::program const& p);

} // namespace overdub::contexts::increments

#if OVERDUB_HEADER_ONLY
#include <overdub/contexts/incremental/work_counter.ipp>
#endif
