// Residuals: copies of primal code in the backward pass, and which of its values the forward pass saves for it.
#pragma once

#include <overdub/implementation/reverse/array_restorer.hpp>
#include <overdub/implementation/reverse/emitter.hpp>
#include <overdub/ir/type_text.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace overdub::adjoint {

/// Replaces operations by ones that also return the residuals of their adjoints.
class residual_saver : emitter {
public:
  using emitter::values;

  residual_saver(adjoint_code& code, array_restorer& arrays) : emitter(code), arrays_(arrays) {}

  node_id save(node_id first, node_id second, std::vector<primal_copy>& primal_copies);

private:
  void find_factors(primal_copy& r);
  std::optional<std::uint32_t> result_that_is(node_id first, primal_copy const& r, value_id v) const;
  std::string described(primal_copy const& r, value_id v) const;
  struct shifted_value { // a loop-carried value
    value_id value, next, initial;
  };
  value_id previous_state(shifted_value const& s, value_id stored, node_id second, bool is_reversed);
  struct stored_value {
    value_id array; // or the residual itself, outside of loops and maps
    // Of ragged residuals: where those of each iteration begin, and how many they are.
    value_id start = ir::nothing, length = ir::nothing;
  };
  struct rebuilt {
    values in_place; // the replacements of the first operation's results
    std::vector<stored_value> besides;
    value_id trip_count = ir::nothing; // the trip count of a while
  };
  values append(value_id all, value_id used, value_id more);
  rebuilt
  rebuild(node_id first, std::vector<primal_copy> const& primal_copies, std::vector<values> const& saved);
  value_id placeholder_of(ir::type t);
  bool has_signature(function_id of, ir::signature const& s) const;
  node_id without_arguments(node_id second, primal_copy const& r);

  array_restorer& arrays_;
};

} // namespace overdub::adjoint
