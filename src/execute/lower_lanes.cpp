#include <overdub/implementation/execute/lane_handlers.hpp>
#include <overdub/implementation/execute/lane_values.hpp>
#include <overdub/implementation/execute/lower_lane_arrays.hpp>
#include <overdub/implementation/execute/lower_lane_control.hpp>
#include <overdub/implementation/execute/lower_lane_elementwise.hpp>
#include <overdub/implementation/execute/lower_lane_maps.hpp>
#include <overdub/implementation/execute/lower_lanes.hpp>

namespace overdub::execute {

void lower_in_lanes(function_lowering& fn, node_id n) {
  switch (fn.f[n].code) {
  case ir::op::convert:
    lower_convert_in_lanes(fn, n);
    break;
  case ir::op::at:
    lower_at_in_lanes(fn, n);
    break;
  case ir::op::update:
    lower_update_in_lanes(fn, n);
    break;
  case ir::op::array:
  case ir::op::concat:
  case ir::op::fill:
  case ir::op::gather:
  case ir::op::slice:
  case ir::op::copy:
    lower_new_array_in_lanes(fn, n);
    break;
  case ir::op::if_:
    lower_if_in_lanes(fn, n);
    break;
  case ir::op::loop:
    lower_loop_in_lanes(fn, n);
    break;
  case ir::op::while_:
    lower_while_in_lanes(fn, n);
    break;
  case ir::op::map:
    lower_map_in_lanes(fn, n);
    break;
  case ir::op::reduce:
    lower_reduce_in_lanes(fn, n);
    break;
  case ir::op::accumulate:
    lower_accumulate_in_lanes(fn, n);
    break;
  case ir::op::add_to:
    lower_add_to_in_lanes(fn, n);
    break;
  case ir::op::assert_:
    fn.out.emit(&trying<lane_assert>::run, 0, fn.at(fn.f.operand(n, 0)));
    break;
  default:
    refuse_unless_elementwise(fn, n);
    lower_elementwise_in_lanes(fn, n);
  }
  release_temporaries(fn);
}

} // namespace overdub::execute
