// The program that computes the trip counts of the maps and loops that enclose a model's choices.
#pragma once

#include <overdub/contexts/models/sites.hpp>
#include <overdub/header_only.hpp>

#include <cstdint>

namespace overdub::models {

/// A trip count that depends on more than the arguments.
inline constexpr std::int64_t unknown_trip_count = -1;

/// A program that takes the model's arguments, and returns for each site the trip counts of the enclosing maps and loops, outermost first.
/// Each is an i64: `unknown_trip_count` in a branch, or where it depends on more than numbers and sizes of arguments. The program has no
/// choices, maps or loops. It throws where it reads the size of a row of an empty array. O(operations).
OVERDUB_DECL ir::program trip_count_program_of(model_program const& m);

} // namespace overdub::models

#if OVERDUB_HEADER_ONLY
#include <overdub/contexts/models/trip_count_program.ipp>
#endif
