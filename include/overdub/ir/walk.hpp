// Walks over the operations of valid functions, including nested ones, without recursion: regions may be nested deeply.
#pragma once

#include <overdub/ir/function.hpp>

namespace overdub::ir {

/// Calls enter(n) for every operation of a region in order, before those of its own regions, and leave(n) after them. The
/// function must not be edited meanwhile. O(operations).
template <class Enter, class Leave>
void walk(function const& f, region_id r, Enter enter, Leave leave) {
  auto first_in = [&](node_id owner, std::uint32_t from) -> node_id {
    for (std::uint32_t i = from; i < f[owner].region_count; ++i)
      if (node_id const first = f[f.region_at(owner, i)].first; first != nothing) return first;
    return nothing;
  };
  node_id n = f[r].first;
  while (n != nothing) {
    enter(n);
    if (node_id const inner = first_in(n, 0); inner != nothing) {
      n = inner;
      continue;
    }
    for (;;) {
      leave(n);
      if (f[n].next != nothing) {
        n = f[n].next;
        break;
      }
      region_id const ended = f[n].parent;
      if (ended == r) return;
      node_id const owner = f[ended].parent;
      n = first_in(owner, index_of(ended) - f[owner].first_region + 1);
      if (n != nothing) break;
      n = owner;
    }
  }
}

/// Calls visit(n) for every operation of a region in pre-order.
template <class Visit>
void walk(function const& f, region_id r, Visit visit) {
  walk(f, r, visit, [](node_id) {});
}

/// Whether an operation is nested in a region. O(the difference in depth).
inline bool is_within(function const& f, node_id n, region_id r) {
  for (region_id at = f[n].parent; at != r;) {
    node_id const owner = f[at].parent;
    if (owner == nothing) return false;
    at = f[owner].parent;
  }
  return true;
}

} // namespace overdub::ir
