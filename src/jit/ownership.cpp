#include "ownership.hpp"

#include "values.hpp"

#include <overdub/ir/regions.hpp>
#include <overdub/ir/walk.hpp>

namespace overdub::jit {

ownership::ownership(ir::program const& p, ir::call_components const& calls)
    : owned_(p.functions.size()), of_type_(p.signature_count()) {
  for (function_id const f : calls.order()) owned_[index_of(f)].resize(p[f].parameters().size());
  for (std::uint16_t i = 0; i < of_type_.size(); ++i)
    of_type_[i].resize(p.signature_of({ir::scalar::function, 0, false, i}).parameters.size());
  for (bool changed = true; changed;) {
    changed = false;
    for (function_id const f : calls.order()) changed = look_at(p, f) || changed;
  }
}
bool ownership::look_at(ir::program const& p, function_id id) {
  ir::function const& f = p[id];
  bool changed = false;
  for (value_id const v : f.parameters()) {
    auto owned = owned_[index_of(id)][f[v].index];
    if (owned || !is_reference_counted(f.type_of(v))) continue;
    for (ir::use_id const u : f.uses_of(v))
      if (takes(f, u)) owned = changed = true;
  }
  ir::walk(f, ir::function::body, [&](node_id n) {
    if (f[n].code == ir::op::closure) changed = look_at_closure(f, n) || changed;
  });
  return changed;
}
// Function values of a type own what one of the functions with this type owns.
bool ownership::look_at_closure(ir::function const& f, node_id n) {
  auto const& parameters = owned_[index_of(f[n].attributes.callee())];
  auto& owned = of_type_[f.type_of(f.result(n)).index];
  bool changed = false;
  for (std::size_t k = 0; k < owned.size(); ++k) {
    changed = changed || (!owned[k] && parameters[f[n].operand_count + k]);
    owned[k] = owned[k] || parameters[f[n].operand_count + k];
  }
  return changed;
}
// Whether an operation transfers a value, or updates it in place.
bool ownership::takes(ir::function const& f, ir::use_id u) const {
  node_id const n = f[u].user;
  std::uint32_t const operand = index_of(u) - f[n].first_operand;
  switch (f[n].code) {
  case ir::op::update:
  case ir::op::copy:
    return operand == 0;
  case ir::op::yield:
  case ir::op::closure:
    return true;
  case ir::op::reduce:
    return operand >= f[n].result_count;
  case ir::op::apply:
    return operand > 0 && of_type_[f.type_of(f.operand(n, 0)).index][operand - 1];
  case ir::op::call:
    return owned_[index_of(f[n].attributes.callee())][operand];
  default:
    return ir::carries_values(f[n].code) || ir::has_accumulators(f[n].code);
  }
}

} // namespace overdub::jit
