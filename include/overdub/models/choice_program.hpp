// Programs that run a model: the role of each choice, and the results.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/models/sites.hpp>

#include <compare>
#include <cstdint>
#include <vector>

namespace overdub::models {

/// Where the choices of a site come from in a run.
enum class role : std::uint8_t {
  given,        // an argument: an array with an axis for each enclosing map and loop
  drawn,        // drawn from the distribution
  chosen,       // a host function decides for each choice: its value, or that it is drawn
  unconstrained // an argument on the unconstrained space, which is transformed to the support
};

/// The signature of a program that runs a model. Its arguments are the model's, and one for each site that is given or unconstrained. Its
/// results are those that are requested, in this order:
///
///   the model's own results
///   scores: the sum of the log densities of all choices; or two sums, of given and of drawn choices
///   values: all choices of each site
///   unconstrained_values: all choices, transformed to the unconstrained space, of each site that has a transform
///   presence: of each conditional site, which of its choices were made
///   densities: the log density of each choice
///
/// An unconstrained choice is scored with the logarithm of its transform's Jacobian.
struct choice_schema {
  enum class scores : std::uint8_t { none, total, by_origin };

  std::vector<role> roles; // by site
  scores score = scores::total;
  bool results = false;
  bool values = false;
  bool unconstrained_values = false;
  bool presence = false;
  bool densities = false;
  bool has_trace_shapes =
      false; // given arrays have the size of the site, as those of a trace: programs may rely on it

  friend auto operator<=>(choice_schema const&, choice_schema const&) = default;
};

/// The host functions that make a choice. Both take the indices of the address, and the parameters of the distribution, and return the
/// value; `choose` returns whether the value was given, too.
struct choice_callbacks {
  ir::host_binding draw, choose;
};

/// The optimised program of a schema. `callbacks` has one for each operation of each site, in their order, where choices are drawn or
/// chosen. Throws model_error for an unconstrained site without a transform. O(operations).
ir::program choice_program_of(
    model_program const& m, choice_schema const& s,
    std::vector<std::vector<choice_callbacks>> const& callbacks);

} // namespace overdub::models
