#include <overdub/implementation/pass/cost.hpp>
#include <overdub/ir/calls.hpp>
#include <overdub/ir/function_types.hpp>
#include <overdub/ir/regions.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace overdub::pass {

costs::costs(program const& p) : p_(p), of_(p.functions.size(), 0) {
  ir::call_components const calls(p);
  for (std::size_t i = 0; i < calls.size(); ++i) {
    std::vector<double> once; // inside of the component, a call costs nothing more
    for (function_id const f : calls[i]) once.push_back(of(p[f], function::body));
    for (std::size_t k = 0; function_id const f : calls[i])
      of_[index_of(f)] = once[k++] * (calls.is_recursive(f) ? assumed_recursive_calls : 1);
  }
}

double costs::of_program() const {
  if (p_.entry != nothing) return of(p_.entry);
  double all = 0;
  for (double const cost : of_) all += cost;
  return all;
}

double costs::of(function const& f, node_id n) const {
  double const stacking = ir::row_of(op::array).cost; // for each stacked result
  return of_own(f, n) + of_regions(f, n) + stacking * ir::region_flow(f, n).stacked();
}

double costs::of(function const& f, region_id r) const {
  double all = 0;
  for (node_id const n : f.nodes_of(r)) all += of(f, n);
  return all;
}

double costs::of_regions(function const& f, node_id n) const {
  double once = 0;
  for (region_id const r : f.regions_of(n)) once += of(f, r);
  return ir::repeats_regions(f[n].code) ? once * assumed_trip_count : once;
}

double costs::of_own(function const& f, node_id n) const {
  function::node const& node = f[n];
  double const own = ir::row_of(node.code).cost;
  switch (node.code) {
  case op::div: { // by a literal: a multiplication and a shift
    bool const is_integer = f.type_of(f.result(n)) == ir::i64;
    return is_integer && f.is_literal(f.operand(n, 1)) ? 2 : own;
  }
  case op::call:
    return own + of(node.attributes.callee());
  case op::apply:
    return own + of_applying(f, f.operand(n, 0), deepest);
  default:
    return own;
  }
}

double costs::of_applying(function const& f, value_id v, int depth) const {
  double reabstracting = 0;
  for (; f.is_result(v) && f[f.node_of(v)].code == op::reabstract; v = f.operand(f.node_of(v), 0))
    reabstracting +=
        ir::row_of(op::reabstract).cost *
        static_cast<double>(ir::inner_differences(p_, f.type_of(f.operand(f.node_of(v), 0)), f.type_of(v)));
  return reabstracting + of_applying_made(f, v, depth);
}
double costs::of_applying_made(function const& f, value_id v, int depth) const {
  if (!f.is_result(v) || depth == 0) return unknown_callee;
  node_id const n = f.node_of(v);
  auto const operand = [&](std::uint32_t i) { return of_applying(f, f.operand(n, i), depth - 1); };
  auto const yielded = [&](std::uint32_t region) {
    return of_applying(f, f.operand(f.yield_of(f.region_at(n, region)), f[v].index), depth - 1);
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
