// The program that says how many turns the maps and loops around a model's choices make.
#pragma once

#include <overdub/contexts/models/sites.hpp>
#include <overdub/header_only.hpp>

#include <cstdint>

namespace overdub::models {

/// A trip count that depends on more than the arguments.
inline constexpr std::int64_t unknown_trip_count = -1;

/// A program that takes the model's arguments, and returns for each site the trip counts of the enclosing maps and loops, outermost first:
/// an i64 each, which is `unknown_trip_count` in a branch, or where it depends on more than sizes and numbers.
/// It has no choices, maps or loops: it takes as long as reading sizes. It throws where it reads a row that is not
/// there. O(operations).
OVERDUB_DECL ir::program trip_count_program_of(model_program const& m);

} // namespace overdub::models

#if OVERDUB_HEADER_ONLY
#include <overdub/contexts/models/trip_count_program.ipp>
#endif
