// Maps.
#include "function.hpp"

namespace overdub::jit {

// Whether an array of numbers is only there to be added up, in the region that it is made in: the reduction.
node_id function_compiler::reduced_alone(value_id v) const {
  ir::type const t = type_of(v);
  if (t.rank != 1) return ir::nothing;
  node_id found = ir::nothing;
  for (ir::use_id const u : f_.uses_of(v)) {
    if (found != ir::nothing) return ir::nothing;
    found = f_[u].user;
  }
  if (found == ir::nothing || f_[found].code != ir::op::reduce || f_[found].parent != f_.region_of(v) ||
      f_[found].attributes.operation != ir::op::add)
    return ir::nothing;
  return t.element == ir::scalar::f64 || t.element == ir::scalar::f32 || t.element == ir::scalar::i64
             ? found
             : node_id{ir::nothing};
}

void function_compiler::compile_map(node_id n) {
  region_id const body = f_.region_at(n, 0);
  node_id const last = f_.yield_of(body);
  llvm::Value* const count = scalar(f_.operand(n, 0));
  std::vector<output> outputs;
  if (f_[n].result_count == 0) require_not_negative(ir::op::map, count);
  for (std::uint32_t k = 0; k < f_[n].result_count; ++k)
    outputs.push_back(new_output(f_.result(n, k), f_.operand(last, k), count, ir::op::map));
  auto const loop = begin_loop(count, {});
  set(f_.argument(body, 0), loop.index);
  compile_region(body);
  for (output const& o : outputs) store_output(o, loop.index);
  finish(last);
  end_loop(loop, {});
  for (output const& o : outputs) finish_output(o);
}

} // namespace overdub::jit
