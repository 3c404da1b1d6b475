// interchange: loop interchange of a map with the loops in its body, in blocks of 64 elements. Each iteration of a loop
// processes all elements of a block, so that long dependence chains of single elements become vector operations.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/ir/program.hpp>

#include <cstddef>

namespace overdub::pass {

/// Splits maps at loops with a uniform trip count: maps of pure operations, and of operations that may fail. Which of several errors is
/// thrown is unspecified. Returns the number of split maps. Requires a valid program. O(operations × depth), for each.
std::size_t interchange(ir::program& p);

} // namespace overdub::pass
