#include <overdub/implementation/ir/parameter_ownership.hpp>
#include <overdub/ir/regions.hpp>
#include <overdub/ir/walk.hpp>

namespace overdub::ir {

parameter_ownership::parameter_ownership(program const& p, call_components const& calls)
    : owned_(p.functions.size()), of_type_(p.signature_count()) {
  for (function_id const f : calls.order()) owned_[index_of(f)].resize(p[f].parameters().size());
  for (std::uint16_t i = 0; i < of_type_.size(); ++i)
    of_type_[i].resize(p.signature_of({scalar::function, 0, false, i}).parameters.size());
  for (bool changed = true; changed;) {
    changed = false;
    for (function_id const f : calls.order()) changed = look_at(p, f) || changed;
  }
}
bool parameter_ownership::look_at(program const& p, function_id id) {
  function const& f = p[id];
  bool changed = false;
  for (value_id const v : f.parameters()) {
    auto owned = owned_[index_of(id)][f[v].index];
    if (owned || !is_reference_counted(f.type_of(v))) continue;
    for (use_id const u : f.uses_of(v))
      if (consumes(f, f[u].user, index_of(u) - f[f[u].user].first_operand)) owned = changed = true;
  }
  walk(f, function::body, [&](node_id n) {
    if (f[n].code == op::closure) changed = look_at_closure(f, n) || changed;
  });
  return changed;
}
// Function values of a type own what one of the functions with this type owns.
bool parameter_ownership::look_at_closure(function const& f, node_id n) {
  auto const& parameters = owned_[index_of(f[n].attributes.callee())];
  auto& owned = of_type_[f.type_of(f.result(n)).index];
  bool changed = false;
  for (std::size_t k = 0; k < owned.size(); ++k) {
    changed = changed || (!owned[k] && parameters[f[n].operand_count + k]);
    owned[k] = owned[k] || parameters[f[n].operand_count + k];
  }
  return changed;
}

bool parameter_ownership::consumes(function const& f, node_id n, std::uint32_t operand) const {
  if (!may_consume(f, n, operand)) return false;
  if (f[n].code == op::apply) return owns(f.type_of(f.operand(n, 0)), operand - 1);
  return f[n].code != op::call || owns(f[n].attributes.callee(), operand);
}

bool may_consume(function const& f, node_id n, std::uint32_t operand) {
  op const code = f[n].code;
  if (row_of(code).result == array_result::version) return operand == 0;
  switch (code) {
  case op::closure:
  case op::reabstract:
  case op::call:
    return true;
  case op::apply:
    return operand > 0;
  case op::reduce: // the initial values
    return operand >= f[n].result_count;
  case op::yield: {
    node_id const owner = owner_of(f, n);
    if (owner == nothing) return true;
    region_flow const flow(f, owner); // elements of arrays are copied
    return flow.yields_results(f[n].parent) && !flow.is_stacked(flow.first_yielded() + operand);
  }
  default:
    if (carries_values(code)) return operand >= region_flow(f, n).leading_operands();
    return has_accumulators(code);
  }
}

} // namespace overdub::ir
