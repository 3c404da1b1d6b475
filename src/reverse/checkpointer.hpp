// Checkpointing: a loop saves its loop-carried values in some iterations only. The backward pass recomputes the others from
// the preceding checkpoint. The schedule is that of Griewank and Walther, Algorithm 799: Revolve (2000), which minimises
// the number of recomputed iterations.
//
// Checkpointing of loops that update arrays in place. A copy of the arrays for each iteration would take longer than the
// iteration. The loop is strip-mined into blocks of iterations, with checkpoints between blocks. The length of a block is chosen
// so that copying the arrays costs about as much as running the block. When the backward pass reaches a block, it runs the
// iterations again, and these save the elements that they overwrite (array_restorer.hpp).
#pragma once

#include <overdub/implementation/reverse/array_restorer.hpp>
#include <overdub/implementation/reverse/emitter.hpp>
#include <overdub/implementation/reverse/update_chains.hpp>

#include <cstdint>

namespace overdub::adjoint {

/// Saves and restores the loop-carried values of some iterations.
class checkpointer : emitter {
public:
  using emitter::values;
  /// The checkpoints of a loop, while its adjoint is written.
  struct checkpoints {
    value_id trip_count = ir::nothing;
    bool is_reversed = false;
    node_id loop = ir::nothing;
    value_id used = ir::nothing;       // the number of slots in use
    value_id iterations = ir::nothing; // an array: the iteration whose state each slot holds
    values states;                     // arrays with one element for each slot
  };

  checkpointer(adjoint_code& code, checkpointing const& limits, array_restorer& arrays)
      : emitter(code), checkpointing_(limits), arrays_(arrays) {}

  bool is_checkpointed(node_id n) const;
  bool replaces_elements(node_id n) const;
  node_id in_blocks(node_id n);
  checkpoints first_checkpoint(node_id n, values const& initial);
  values restore(checkpoints& c, value_id index);

private:
  // An estimate of the size of a block's residuals, in states.
  static constexpr std::int64_t states_of_block = 3;

  bool has_length_of(value_id made, value_id other) const;
  value_id slots_for(value_id trip_count, values const& states, std::int64_t fewer);
  value_id bytes_of(value_id v);
  value_id distance(value_id iterations, value_id slots);
  value_id at_index(node_id n, value_id number, value_id index_value, int steps);
  value_id inner_trip_count(node_id n);

  checkpointing checkpointing_;
  array_restorer& arrays_;
};

} // namespace overdub::adjoint
