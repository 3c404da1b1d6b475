#include <overdub/ir/regions.hpp>

namespace overdub::ir {

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
