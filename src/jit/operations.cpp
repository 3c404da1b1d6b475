#include "operations.hpp"

#include "arrays.hpp"
#include "calls.hpp"
#include "control.hpp"
#include "maps.hpp"
#include "reduce.hpp"
#include "reference_counts.hpp"
#include "scalars.hpp"

#include <overdub/implementation/execute/supported_types.hpp>

namespace overdub::jit {
namespace {

void emit_operation(function_state& fn, node_id n) {
  switch (fn.f[n].code) {
  case ir::op::convert: {
    value_id const from = fn.f.operand(n, 0), to = fn.f.result(n);
    return fn.set(to, converted(fn, fn.type_of(from).element, fn.type_of(to).element, fn.scalar(from)));
  }
  case ir::op::array:
    return emit_array(fn, n);
  case ir::op::length:
    return emit_length(fn, n);
  case ir::op::at:
    return emit_at(fn, n);
  case ir::op::slice:
    return emit_slice(fn, n);
  case ir::op::update:
    return emit_update(fn, n);
  case ir::op::fill:
    return emit_fill(fn, n);
  case ir::op::iota:
    return emit_iota(fn, n);
  case ir::op::concat:
    return emit_concat(fn, n);
  case ir::op::gather:
    return emit_gather(fn, n);
  case ir::op::copy:
    return fn.set(fn.f.result(n), reuse_array(fn, n, false));
  case ir::op::if_:
    return emit_if(fn, n);
  case ir::op::loop:
    return emit_loop(fn, n);
  case ir::op::while_:
    return emit_while(fn, n);
  case ir::op::map:
    return emit_map(fn, n);
  case ir::op::reduce:
    return emit_reduce(fn, n);
  case ir::op::accumulate:
    return emit_accumulate(fn, n);
  case ir::op::add_to:
    return emit_add_to(fn, n);
  case ir::op::protect:
    return emit_protect(fn, n);
  case ir::op::call:
    return emit_call(fn, n);
  case ir::op::apply:
    return emit_apply(fn, n);
  case ir::op::closure:
    return emit_closure(fn, n);
  case ir::op::host:
  case ir::op::sample:
    return emit_host(fn, n);
  case ir::op::assert_:
    return emit_assert(fn, n);
  default:
    if (!ir::is_elementwise(fn.f[n].code))
      fn.refuse(
          "it has the operation " + std::string(ir::name_of(fn.f[n].code)) + ", which has no machine code");
    return emit_elementwise(fn, n);
  }
}

} // namespace

void emit_node(function_state& fn, node_id n) {
  for (value_id const v : fn.f.results_of(n)) execute::refuse_unless_supported(fn, fn.type_of(v));
  if (fn.program.lines) fn.b.SetCurrentDebugLocation(fn.program.lines->location(fn.f[n].place));
  emit_operation(fn, n);
  release_after(fn, n);
}

void emit_region(function_state& fn, region_id r) {
  release_on_entry(fn, r);
  node_id const last = fn.f.yield_of(r);
  for (node_id const n : fn.f.nodes_of(r))
    if (n != last) emit_node(fn, n);
}

} // namespace overdub::jit
