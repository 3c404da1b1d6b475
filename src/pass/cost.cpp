#include <overdub/implementation/pass/cost.hpp>
#include <overdub/ir/calls.hpp>
#include <overdub/ir/function_types.hpp>
#include <overdub/ir/regions.hpp>

#include <algorithm>
#include <cstdint>

namespace overdub::pass {

costs::costs(program const& p) : of_(p.functions.size(), 0) {
  ir::call_components const calls(p);
  for (function_id const f : calls.order()) {
    inside_.assign(p[f].region_count(), 0);
    ir::walk(
        p[f], function::body, [](node_id) {},
        [&](node_id n) { inside_[index_of(p[f][n].parent)] += of(p, p[f], n); });
    of_[index_of(f)] = inside_[0];
  }
}
double costs::of(program const& p) const {
  if (p.entry != nothing) return of(p.entry);
  double all = 0;
  for (double const cost : of_) all += cost;
  return all;
}
double costs::of(program const& p, function const& f, node_id n) const {
  function::node const& node = f[n];
  double cost = ir::row_of(node.code).cost;
  bool const repeats = ir::repeats_regions(node.code);
  for (region_id const r : f.regions_of(n)) cost += inside_[index_of(r)] * (repeats ? assumed_trip_count : 1);
  cost += arrays(ir::region_flow(f, n).stacked());
  if (node.code == op::call) cost += of(node.attributes.callee());
  if (node.code == op::apply) cost += of_applying(p, f, f.operand(n, 0), deepest);
  return cost;
}
double costs::of_applying(program const& p, function const& f, value_id v, int depth) const {
  double reabstracting = 0;
  for (; f.is_result(v) && f[f.node_of(v)].code == op::reabstract; v = f.operand(f.node_of(v), 0))
    reabstracting +=
        ir::row_of(op::reabstract).cost *
        static_cast<double>(ir::inner_differences(p, f.type_of(f.operand(f.node_of(v), 0)), f.type_of(v)));
  return reabstracting + of_applying_made(p, f, v, depth);
}
double costs::of_applying_made(program const& p, function const& f, value_id v, int depth) const {
  if (!f.is_result(v) || depth == 0) return unknown_callee;
  node_id const n = f.node_of(v);
  auto const operand = [&](std::uint32_t i) { return of_applying(p, f, f.operand(n, i), depth - 1); };
  auto const yielded = [&](std::uint32_t region) {
    return of_applying(p, f, f.operand(f.yield_of(f.region_at(n, region)), f[v].index), depth - 1);
  };
  switch (f[n].code) {
  case op::closure:
    return of(f[n].attributes.callee());
  case op::select:
    return std::max(operand(1), operand(2));
  case op::if_:
    return std::max(yielded(0), yielded(1));
  case op::protect:
    return yielded(0);
  default:
    return unknown_callee;
  }
}

} // namespace overdub::pass
