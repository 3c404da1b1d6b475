#include <overdub/implementation/reverse/captures.hpp>

#include <vector>

namespace overdub::adjoint {

std::vector<value_id> varied_captures(function const& f, activity const& known, node_id n) {
  std::vector<value_id> all;
  auto const is_differentiable = [&](node_id use) { return f[use].code != op::length; };
  for (value_id const v : ir::captures_of(f, n, is_differentiable))
    if (known.varies(v) && !f.type_of(v).is_accumulator) all.push_back(v);
  return all;
}

bool is_in_loop(function const& f, node_id n) {
  for (node_id at = ir::owner_of(f, n); at != ir::nothing; at = ir::owner_of(f, at))
    if (ir::repeats_regions(f[at].code)) return true;
  return false;
}

ir::value_set used_whole(function const& f, region_id r) {
  ir::value_set all;
  ir::walk(f, r, [&](node_id n) {
    op const code = f[n].code;
    if (code == op::yield || code == op::copy || ir::carries_values(code))
      for (value_id const v : f.operands_of(n)) all.insert(v);
    else if (code == op::update || ir::has_accumulators(code))
      all.insert(f.operand(n, 0));
  });
  return all;
}

} // namespace overdub::adjoint
