// The operations of a function: which function lowers which.

#include <overdub/implementation/execute/lower_arrays.hpp>
#include <overdub/implementation/execute/lower_calls.hpp>
#include <overdub/implementation/execute/lower_control.hpp>
#include <overdub/implementation/execute/lower_lanes.hpp>
#include <overdub/implementation/execute/lower_reductions.hpp>
#include <overdub/implementation/execute/lower_scalars.hpp>
#include <overdub/implementation/execute/lowering.hpp>
#include <overdub/implementation/execute/supported_types.hpp>

namespace overdub::execute {
namespace {

void lower_node(function_lowering& fn, node_id n) {
  for (value_id const v : fn.f.results_of(n)) refuse_unless_supported(fn, fn.type_of(v));
  switch (fn.f[n].code) {
  case ir::op::convert:
    lower_convert(fn, n);
    break;
  case ir::op::length:
    lower_length(fn, n);
    break;
  case ir::op::at:
    lower_at(fn, n);
    break;
  case ir::op::slice:
    lower_slice(fn, n);
    break;
  case ir::op::update:
    lower_update(fn, n);
    break;
  case ir::op::array:
  case ir::op::fill:
  case ir::op::iota:
  case ir::op::concat:
  case ir::op::gather:
    lower_new_array(fn, n);
    break;
  case ir::op::copy:
    reuse_array(fn, n);
    break;
  case ir::op::if_:
    lower_if(fn, n);
    break;
  case ir::op::loop:
    lower_loop(fn, n);
    break;
  case ir::op::while_:
    lower_while(fn, n);
    break;
  case ir::op::map:
    lower_map(fn, n);
    break;
  case ir::op::reduce:
    lower_reduce(fn, n);
    break;
  case ir::op::accumulate:
    lower_accumulate(fn, n);
    break;
  case ir::op::add_to:
    lower_add_to(fn, n);
    break;
  case ir::op::protect:
    lower_protect(fn, n);
    break;
  case ir::op::call:
  case ir::op::apply:
    lower_call(fn, n);
    break;
  case ir::op::closure:
    lower_closure(fn, n);
    break;
  case ir::op::reabstract:
    lower_reabstract(fn, n);
    break;
  case ir::op::host:
    lower_host(fn, n);
    break;
  case ir::op::sample:
    lower_sample(fn, n);
    break;
  case ir::op::assert_:
    lower_assert(fn, n);
    break;
  default:
    refuse_unless_elementwise(fn, n);
    lower_elementwise(fn, n);
  }
}

} // namespace

void lower_region(function_lowering& fn, region_id r, node_id left_out) {
  for (value_id const v : fn.counts().released_on_entry(r)) release(fn, v);
  node_id const last = fn.f.yield_of(r);
  for (node_id const n : fn.f.nodes_of(r)) {
    if (n == last) break;
    if (n == left_out) continue;
    if (fn.lanes != nullptr && fn.lanes->plan.is_in_lanes(n))
      lower_in_lanes(fn, n);
    else
      lower_node(fn, n);
    finish(fn, n);
  }
}

} // namespace overdub::execute
