// The operation of a region in which an operation is nested.
#pragma once

#include <overdub/ir/regions.hpp>

namespace overdub::ir {

/// The operation of region r that contains operation n, or is n; nothing, if n is not in r. O(the difference in depth, or the depth of n).
inline node_id ancestor_in(function const& f, node_id n, region_id r) {
  while (n != nothing && f[n].parent != r) n = owner_of(f, n);
  return n;
}

} // namespace overdub::ir
