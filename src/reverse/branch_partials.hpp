// The adjoint of a small branch in a recurrence. The forward pass also computes the partial derivatives of the branch, and
// the backward pass multiplies by them, without a second branch that the processor could mispredict. Whether partial
// derivatives are saved or recomputed is decided as for other values. Branches outside of recurrences keep their branching
// adjoints, since their iterations can be vectorised.
#pragma once

#include <overdub/implementation/reverse/array_restorer.hpp>
#include <overdub/implementation/reverse/cotangents.hpp>
#include <overdub/implementation/reverse/emitter.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace overdub::adjoint {

/// Writes adjoints of branches that multiply by partial derivatives.
class branch_partials : emitter {
public:
  using emitter::values;

  branch_partials(adjoint_code& code, cotangents& sums, array_restorer& arrays, reverse_all reverse)
      : emitter(code), sums_(sums), arrays_(arrays), reverse_(std::move(reverse)) {}

  /// Writes the adjoint of an iteration of a loop: branches that it computes from loop-carried values are in a recurrence.
  template <class Write>
  void in_iteration(primal_copy const& r, Write const& write) {
    ir::value_set enclosing = std::exchange(recurrent_, recurrent_in(r));
    write();
    recurrent_ = std::move(enclosing);
  }
  bool applies_to(node_id n) const;
  void write(node_id n, values const& cotangents);

private:
  struct partials {
    values of; // one for each input; nothing: the branch does not depend on it
    bool selects = false;
  };
  ir::value_set recurrent_in(primal_copy const& r) const;
  values numbers_captured(node_id n, ir::type t) const;
  partials write_partials(region_id r, std::uint32_t result, values const& inputs);
  node_id with_more_results(node_id n, values const (&more)[2]);
  void note_partials(node_id n, std::size_t count);

  cotangents& sums_;
  array_restorer& arrays_;
  reverse_all reverse_;
  ir::value_set recurrent_;  // what an iteration of the innermost loop computes from loop-carried values
  bool in_partials_ = false; // the adjoint that is written belongs to a branch's forward pass
};

} // namespace overdub::adjoint
