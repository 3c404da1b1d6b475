#include <overdub/ir/effects.hpp>
#include <overdub/ir/regions.hpp>

#include <cstdint>
#include <vector>

namespace overdub::ir {

effects::effects(program const& p) : of_(p.functions.size()) {
  call_components const components(p);
  for (std::size_t i = 0; i < components.size(); ++i) {
    effect_set all;
    for (function_id const f : components[i]) {
      all |= in_region(p[f], function::body); // for other functions of the component, nothing yet
      if (components.is_recursive(f)) all |= effect::may_fail;
    }
    for (function_id const f : components[i]) of_[index_of(f)] = all;
  }
}

void effects::add(function_id made, function_id like) {
  if (index_of(made) >= of_.size()) of_.resize(index_of(made) + 1);
  of_[index_of(made)] = of(like);
}

effect_set effects::of(function const& f, node_id n) const {
  if (f[n].code == op::add_to) return effect_set(effect::accumulates) | effect::may_fail;
  effect_set all = own(f, n);
  for (region_id const r : f.regions_of(n)) all |= inside(f, r, n);
  return all;
}

std::vector<effect_set> effects::of_each(function const& f) const {
  std::vector<effect_set> all(f.node_count());
  std::vector<node_id> additions;
  walk(
      f, function::body, [](node_id) {},
      [&](node_id n) {
        all[index_of(n)] |= own(f, n);
        node_id const owner = f[f[n].parent].parent;
        if (owner != nothing) all[index_of(owner)] |= all[index_of(n)];
        if (f[n].code == op::add_to) additions.push_back(n);
      });
  for (node_id const n : additions) {
    region_id const made = f.region_of(f.operand(n, 0));
    all[index_of(n)] |= effect::accumulates;
    for (region_id r = f[n].parent; r != made; r = f[f[r].parent].parent)
      all[index_of(f[r].parent)] |= effect::accumulates;
  }
  return all;
}

effect_set effects::own(function const& f, node_id n) const {
  function::node const& node = f[n];
  switch (node.code) {
  case op::call:
    return of(node.attributes.callee());
  case op::host:
    return node.attributes.effects;
  case op::div:
  case op::rem: {
    value_id const divisor = f.operand(n, 1);
    if (f.is_literal(divisor) && f.bits_of(divisor) != 0) return effect::pure;
    return of_combining(node.code, f.type_of(f.result(n)));
  }
  case op::length: // of one array: cannot fail
    return node.operand_count > 1 ? effect::may_fail : effect::pure;
  case op::array: // of arrays, which may differ in shape
    return node.operand_count > 1 && f.type_of(f.operand(n, 0)).rank > 0 ? effect::may_fail : effect::pure;
  case op::at: // in bounds, with one index
    return node.operand_count > 2 || !is_in_range(f, f.operand(n, 0), f.operand(n, 1)) ? effect::may_fail
                                                                                       : effect::pure;
  case op::update: // the same, with a scalar
    return node.operand_count > 3 || f.type_of(f.result(n)).rank > 1 ||
                   !is_in_range(f, f.operand(n, 0), f.operand(n, 1))
               ? effect::may_fail
               : effect::pure;
  case op::fill:
  case op::iota:
    return is_size(f, f.operand(n, 0)) ? effect::pure : effect::may_fail;
  case op::concat: // of arrays, which may differ in shape
    return f.type_of(f.result(n)).rank > 1 ? effect::may_fail : effect::pure;
  case op::map:
    return stacks_arrays(f, n) || !is_size(f, f.operand(n, 0)) ? effect::may_fail : effect::pure;
  case op::reduce: // fails for an empty array, or for arrays of different lengths
    if (!node.attributes.is_started() || node.operand_count > 2) return effect::may_fail;
    if (node.attributes.operation == op::none) return effect::pure;
    return of_combining(node.attributes.operation, f.type_of(f.result(n)));
  case op::add_to:
    return effect::may_fail;
  default:
    return stacks_arrays(f, n) ? effect_set(effect::may_fail) : row_of(node.code).effects;
  }
}

bool effects::stacks_arrays(function const& f, node_id n) {
  region_flow const flow(f, n);
  for (std::uint32_t i = 0; i < f[n].result_count; ++i)
    if (flow.is_stacked(i) && f.type_of(f.result(n, i)).rank > 1) return true;
  return false;
}

effect_set effects::inside(function const& f, region_id r, node_id owner) const {
  effect_set all;
  walk(f, r, [&](node_id n) {
    all |= own(f, n);
    if (f[n].code == op::add_to && adds_outside(f, n, r, owner)) all |= effect::accumulates;
  });
  return all;
}

bool effects::adds_outside(function const& f, node_id n, region_id r, node_id owner) {
  region_id const made = f.region_of(f.operand(n, 0));
  if (made == r) return owner == nothing;
  for (region_id at = f[n].parent; at != r; at = f[f[at].parent].parent)
    if (at == made) return false;
  return true;
}

} // namespace overdub::ir
