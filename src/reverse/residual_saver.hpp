// Saving of residuals: the operation of the forward pass is rewritten to return the values that the backward pass reads, stacked over the
// iterations of a loop (the tape, or cache, of Tapenade and Enzyme; `residuals` of JAX's scan). A minimum cut chooses which values to save
// and which to recompute (residual_problem.hpp).
#pragma once

#include <overdub/implementation/reverse/array_restorer.hpp>
#include <overdub/implementation/reverse/emitter.hpp>
#include <overdub/ir/type_text.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace overdub::adjoint {

/// Replaces an operation with regions, such as a loop or a branch, by one that also returns the residuals of its adjoint.
class residual_saver : emitter {
public:
  using emitter::values;

  residual_saver(adjoint_code& code, array_restorer& arrays) : emitter(code), arrays_(arrays) {}

  node_id save(node_id first, node_id second, std::vector<primal_copy>& primal_copies);

private:
  void find_factors(primal_copy& r);
  std::optional<std::uint32_t> result_equal_to(node_id first, primal_copy const& r, value_id v) const;
  std::string described(primal_copy const& r, value_id v) const;
  // A loop-carried value `value` whose next states `next` are saved. The state of an iteration is the next state of the preceding
  // iteration.
  struct shifted_value {
    value_id value, next, initial;
  };
  value_id previous_state(shifted_value const& s, value_id stored, node_id second, bool is_reversed);
  struct stored_value {
    // The residuals of all iterations; of an operation that runs its region once, the residual.
    value_id array;
    // Arrays, for a ragged residual: the index of each iteration's first element in `array`, and the iteration's number of elements.
    value_id start = ir::nothing, length = ir::nothing;
  };
  struct rebuilt {
    values results; // they replace the results of the original operation
    std::vector<stored_value> residuals;
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
