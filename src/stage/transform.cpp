#include <overdub/stage/transform.hpp>

namespace overdub::detail {

ir::function_id only_callee(ir::program const& p, ir::function_id f) {
  ir::function const& root = p[f];
  ir::node_id const first = root[ir::function::body].first;
  if (root[first].code != ir::op::call || root[first].next != root.yield_of(ir::function::body))
    return ir::nothing;
  bool const is_all =
      equal_ranges(root.operands_of(first), root.parameters()) &&
      equal_ranges(root.operands_of(root.yield_of(ir::function::body)), root.results_of(first));
  return is_all ? root[first].attributes.callee() : ir::function_id{ir::nothing};
}

} // namespace overdub::detail
