// From programs to instructions: one function at a time, in one walk. Allocates frame slots, tracks last uses, and places
// reference-count operations.
#pragma once

#include <overdub/execute/code.hpp>
#include <overdub/implementation/execute/frame_slots.hpp>
#include <overdub/implementation/execute/lower_lanes.hpp>
#include <overdub/ir/type_text.hpp>

#include <cstdint>
#include <vector>

namespace overdub::execute {

/// Lowers one function. Its parts are in the headers lower_*.hpp; vectorised maps are lowered by lane_lowering.
class lowering final : lane_lowering {
public:
  lowering(lowering_of_program& shared, ir::function_id id) : lane_lowering(shared, id) {}

  function_code lower();

private:
  void lower_region(region_id r) { lower_region(r, ir::nothing); }
  void lower_region(region_id r, node_id left_out) override {
    for (value_id const v : counts().released_on_entry(r)) release(v);
    node_id const last = f_.yield_of(r);
    for (node_id const n : f_.nodes_of(r)) {
      if (n == last) break;
      if (n == left_out) continue;
      if (lanes_ != nullptr && lanes_->plan.is_in_lanes(n))
        lower_in_lanes(n);
      else
        lower_node(n);
      finish(n);
    }
  }
  void lower_node(node_id n);
  void lower_elementwise(node_id n);
  void lower_sine_and_cosine(node_id n, node_id other);
  void lower_select(node_id n);
  void lower_convert(node_id n);

  void lower_array(node_id n);
  void lower_length(node_id n);
  void lower_at(node_id n);
  void lower_slice(node_id n);
  void lower_update(node_id n);
  void lower_add_to(node_id n);
  void lower_copy(node_id n);
  void lower_new_array(node_id n, handler run, offset a, offset b);

  void lower_if(node_id n);
  void lower_loop(node_id n);
  void lower_while(node_id n);
  void lower_map(node_id n);
  void lower_reduce(node_id n);
  void lower_reduce_by_region(node_id n);
  void lower_accumulate(node_id n);
  void lower_protect(node_id n);
  void lower_call(node_id n);
  void lower_closure(node_id n);
  void lower_reabstract(node_id n);
  void lower_host(node_id n);
  void lower_sample(node_id n);
  void lower_assert(node_id n);

  bool lowered_in_blocks(node_id n);
  std::vector<offset> start_loop_carried(node_id n, std::uint32_t first_operand, std::uint32_t count);
  void check_type(ir::type t) const;

  std::vector<std::uint32_t> calls_; // instructions whose operand c is the size of the frame
};

} // namespace overdub::execute
