// Programs that run a model: what each choice is to them, and what they give.
#pragma once

#include <overdub/contexts/models/sites.hpp>
#include <overdub/header_only.hpp>

#include <compare>
#include <cstdint>
#include <vector>

namespace overdub::models {

/// What the choices of a site are in a run.
enum class role : std::uint8_t {
  given,        // an argument: an array with an axis for each turn
  drawn,        // drawn from their distribution
  chosen,       // given or drawn, one by one, as the host says
  unconstrained // of an argument of numbers without constraints
};

/// What a run does with a model's choices, and gives: the schema of a program. Its arguments are the model's, and one for each site that
/// is given or unconstrained. Its results are, in this order and as far as they are asked for,
///
///   the model's own results
///   scores: the sum of the log densities of all choices; or two, of those that were given, and of those that were drawn
///   values: all choices of each site
///   free: the numbers without constraints that choices stand for, of the sites for which they exist
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
  bool free = false;
  bool presence = false;
  bool densities = false;
  bool shaped =
      false; // the arrays of choices have as many elements as the model makes choices, as those of a trace have

  friend auto operator<=>(choice_schema const&, choice_schema const&) = default;
};

/// The host's function that makes a choice: `draw` or `choose`. It is given the indices of the address, and the parameters of the
/// distribution; it gives the value, and for `choose` whether it was given.
struct choice_source {
  ir::host_binding draw, choose;
};

/// The program of a schema, which is optimised. `sources` has one for each operation of each site, in their order, where choices are
/// drawn or chosen. Throws model_error for a site that is unconstrained and has no transform. O(operations).
OVERDUB_DECL ir::program choice_program_of(
    model_program const& m, choice_schema const& s, std::vector<std::vector<choice_source>> const& sources);

} // namespace overdub::models

#if OVERDUB_HEADER_ONLY
#include <overdub/contexts/models/choice_program.ipp>
#endif
