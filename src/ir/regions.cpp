#include <overdub/ir/regions.hpp>
#include <overdub/ir/walk.hpp>

#include <cassert>

namespace overdub::ir {

bool is_defined_in(function const& f, value_id v, region_id r) {
  if (f.is_literal(v)) return false;
  region_id const at = f.region_of(v);
  return at == r || (f[at].parent != nothing && is_within(f, f[at].parent, r));
}

bool is_iteration_index(function const& f, value_id v) {
  if (!f.is_argument(v) || f[v].index != 0) return false;
  node_id const owner = owner_of(f, v);
  return owner != nothing && is_counted(f[owner].code);
}

std::optional<std::uint32_t> region_flow::carried_index(value_id v) const {
  std::uint32_t const first = leading_arguments();
  if (!carries_values(code()) || !f_->is_argument(v) || owner_of(*f_, v) != n_ || (*f_)[v].index < first)
    return {};
  return (*f_)[v].index - first;
}

void for_each_destination(
    function const& f, node_id n, std::uint32_t i, overdub::detail::function_view<void(value_id)> visit) {
  assert(i < f[n].operand_count);
  auto const to_arguments = [&](node_id owner, std::uint32_t first, std::uint32_t step, std::uint32_t end) {
    for (region_id const r : f.regions_of(owner))
      for (std::uint32_t k = first; k < end; k += step) visit(f.argument(r, k));
  };
  if (f[n].code == op::yield) {
    node_id const owner = owner_of(f, n);
    if (owner == nothing) return;
    region_flow const flow(f, owner);
    if (!flow.yields_results(f[n].parent)) return;
    visit(f.result(owner, flow.first_yielded() + i));
    if (i < flow.carried())
      to_arguments(owner, flow.leading_arguments() + i, 1, flow.leading_arguments() + i + 1);
    if (row_of(f[owner].code).has(region_traits::combines))
      to_arguments(owner, i, f[owner].result_count, 2 * f[owner].result_count);
    return;
  }
  region_flow const flow(f, n);
  op_row const& row = row_of(f[n].code);
  if (row.has(region_traits::carries) && i >= flow.leading_operands()) {
    std::uint32_t const k = i - flow.leading_operands();
    to_arguments(n, flow.leading_arguments() + k, 1, flow.leading_arguments() + k + 1);
    visit(f.result(n, k));
  } else if (row.has(region_traits::accumulates)) {
    to_arguments(n, i, 1, i + 1);
    visit(f.result(n, i));
  } else if (row.has(region_traits::combines)) { // arrays, then initial values
    std::uint32_t const k = i % f[n].result_count;
    to_arguments(n, k, f[n].result_count, 2 * f[n].result_count);
    visit(f.result(n, k));
  }
}

std::vector<type> result_types(function const& f, node_id n) {
  region_flow const flow(f, n);
  std::vector<type> types;
  if (row_of(f[n].code).has(region_traits::combines)) {
    for (value_id const v : f.operands_of(f.yield_of(flow.body()))) types.push_back(f.type_of(v));
    return types;
  }
  for (std::uint32_t i = 0; i < flow.first_yielded(); ++i) types.push_back(f.type_of(f.operand(n, i)));
  std::uint32_t i = 0;
  for (value_id const v : f.operands_of(f.yield_of(flow.body())))
    types.push_back(flow.is_stacked(i++) ? f.type_of(v).array_of() : f.type_of(v));
  return types;
}

} // namespace overdub::ir
