// The program that says how many turns the maps and loops around a model's choices make.
#pragma once

#include <overdub/contexts/models/sites.hpp>
#include <overdub/header_only.hpp>

#include <cstdint>

namespace overdub::models {

/// How many turns are not known from the arguments alone.
inline constexpr std::int64_t unknown_turns = -1;

/// A program that takes the model's arguments, and gives for each site, and each map and loop around it, outermost first, how many turns
/// that makes: an i64 each, which is `unknown_turns` where it stands in a branch, or where other things than sizes and numbers decide.
/// It makes no choices, and no maps or loops: it takes as long as asking for sizes does. Where it throws, a row is asked for that is not
/// there. O(operations).
OVERDUB_DECL ir::program turns_program_of(model_program const& m);

} // namespace overdub::models

#if OVERDUB_HEADER_ONLY
#include <overdub/contexts/models/turns_program.ipp>
#endif
