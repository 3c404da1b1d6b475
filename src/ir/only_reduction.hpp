// Arrays that are used by one reduction alone.
#pragma once

#include <overdub/ir/function.hpp>

namespace overdub::ir {

/// The reduction of an array by an operation, in the array's own region, if that is the only use; otherwise nothing. One in order is none:
/// executors compute the others in parts, together with the map that makes the array. O(1).
inline node_id only_reduction(function const& f, value_id v) {
  use_id const u = f[v].first_use;
  if (u == nothing || f[u].next != nothing) return nothing;
  node_id const n = f[u].user;
  bool const is_reduction = f[n].code == op::reduce && f[n].attributes.operation != op::none &&
                            !f[n].attributes.is_in_order() && f[n].parent == f.region_of(v) &&
                            f.operand(n, 0) == v;
  return is_reduction ? n : node_id(nothing);
}

} // namespace overdub::ir
