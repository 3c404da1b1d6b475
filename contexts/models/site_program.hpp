// Programs of one choice: what its distribution is, with all other choices as they are.
#pragma once

#include <overdub/contexts/models/choice_program.hpp>
#include <overdub/header_only.hpp>

#include <cstdint>
#include <vector>

namespace overdub::models {

/// What is asked of one choice, and what the program gives.
enum class site_question : std::uint8_t {
  draw,    // another value, drawn; its log density; and that of the present value
  density, // the log density of the present value
  bounds,  // the least and the greatest value, two i64
  moments, // the mean and the standard deviation, where it is normal
  made     // whether the branches that it stands in are taken
};

/// The program of a choice of a site, which is optimised. Its arguments are the model's, all choices of each site, and the indices of the
/// choice. It computes what the distribution needs, and no more: of maps around it one turn, of loops those before it; where what they
/// carry is made of choices alone, only the one before it. Throws model_error where a question has no answer. O(operations).
OVERDUB_DECL ir::program site_program_of(
    model_program const& m, std::uint32_t site, site_question q,
    std::vector<std::vector<choice_source>> const& sources);

} // namespace overdub::models

#if OVERDUB_HEADER_ONLY
#include <overdub/contexts/models/site_program.ipp>
#endif
