// The lowering of one vectorised map: its plan, the rows of its block, and what its operations share.
#pragma once

#include <overdub/implementation/execute/lane_plan.hpp>
#include <overdub/implementation/execute/lane_rows.hpp>
#include <overdub/implementation/ir/reference_counts.hpp>

#include <cstdint>
#include <vector>

namespace overdub::execute {

struct lane_state {
  lane_plan const& plan;
  ir::reference_counts const counts; // of the body in lanes
  offset const block;                // the words of the block (block_words)
  lane_rows rows;
  std::vector<offset> steps{}; // words of the strides of strided values
  struct broadcast_array {
    offset at, words;
  };
  std::vector<broadcast_array> broadcasts{}; // arrays of lanes for the operation that is lowered
  offset mask = no_word;                     // in a divergent branch: points to the mask
  int depth = 0;                             // of loops
  struct {                                   // an instruction on doubles that the next one may be fused with
    std::uint32_t at = ~0u;
    ir::value_id value = ir::nothing;
    ir::op code = ir::op::none;
    bool b_uniform = false;
  } last{};
};

} // namespace overdub::execute
