// The program that computes the trip counts of the maps and loops that enclose a model's choices.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/models/sites.hpp>

#include <cstdint>

namespace overdub::models {

/// The result for a trip count that the arguments do not determine.
inline constexpr std::int64_t unknown_trip_count = -1;

/// Returns a program that accepts the model's arguments, and returns for each site the trip counts of the enclosing maps and loops,
/// outermost first. Each is an i64: `unknown_trip_count` for a map or loop that is nested in a branch, and for a trip count that operations
/// without regions do not compute from the numbers, elements and sizes of the arguments. The program has no choices, maps or loops. Its run
/// throws if a trip count is the size of a row, and the array has no rows. O(operations).
ir::program trip_count_program_of(model_program const& m);

} // namespace overdub::models
