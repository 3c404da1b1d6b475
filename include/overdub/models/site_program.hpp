// Programs that evaluate the distribution of one choice, given all other choices of a trace.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/models/choice_program.hpp>

#include <cstdint>
#include <vector>

namespace overdub::models {

/// What a program computes of one choice, and its results.
enum class site_query : std::uint8_t {
  draw,    // a new value, drawn from the distribution; its log density; and that of the present value
  density, // the log density of the present value
  bounds,  // the minimum and the maximum of the support, two i64
  moments, // the mean and the standard deviation of a normal distribution
  is_made  // whether the enclosing branches are taken
};

/// The optimised program of a query. Its arguments are the model's, all choices of each site, and the indices of the choice. It is a slice
/// of the model (Weiser 1981): of an enclosing map it runs one iteration; of an enclosing loop those before the choice, or the previous one
/// alone where choices determine all loop-carried values. Throws model_error where the distribution does not support the query.
/// O(operations).
ir::program site_program_of(
    model_program const& m, std::uint32_t site, site_query q,
    std::vector<std::vector<choice_callbacks>> const& callbacks);

} // namespace overdub::models
