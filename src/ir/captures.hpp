// The values that the regions of an operation capture.
#pragma once

#include <overdub/implementation/ir/value_map.hpp>
#include <overdub/ir/walk.hpp>

#include <cstdint>
#include <tsl/robin_set.h>
#include <vector>

namespace overdub::ir {

/// The values of enclosing regions that the regions of an operation use (its free variables), each once, in the order of
/// their first uses; only uses by operations for which `counts` holds. O(operations inside).
template <class Counts>
std::vector<value_id> captures_of(function const& f, node_id n, Counts const& counts) {
  std::vector<value_id> all;
  tsl::robin_set<std::uint32_t> inside; // regions
  value_set known;
  for (region_id const r : f.regions_of(n)) inside.insert(index_of(r));
  for (region_id const r : f.regions_of(n))
    walk(f, r, [&](node_id m) {
      for (region_id const own : f.regions_of(m)) inside.insert(index_of(own));
      if (!counts(m)) return;
      for (value_id const v : f.operands_of(m))
        if (!f.is_literal(v) && !inside.contains(index_of(f.region_of(v))) && known.insert(v).second)
          all.push_back(v);
    });
  return all;
}
inline std::vector<value_id> captures_of(function const& f, node_id n) {
  return captures_of(f, n, [](node_id) { return true; });
}

} // namespace overdub::ir
