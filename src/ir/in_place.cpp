#include <overdub/implementation/ir/ancestor.hpp>
#include <overdub/implementation/ir/in_place.hpp>
#include <overdub/ir/regions.hpp>
#include <overdub/ir/walk.hpp>

namespace overdub::ir {

bool is_once_in(function const& f, value_id v, node_id n) {
  std::uint32_t count = 0;
  for (value_id const x : f.operands_of(n)) count += x == v;
  return count == 1;
}

bool is_only_read_by(function const& f, value_id v, node_id n) {
  switch (f[n].code) {
  case op::at:
    return f.type_of(f.result(n)).rank == 0;
  case op::length:
    return true;
  case op::reduce:
    return f[n].attributes.operation != op::none && f.operand(n, 0) == v;
  default:
    return false;
  }
}

namespace {

// Whether the region yields, at a position, the array v after a chain of updates, between which it is only read.
// O(uses of the array and its updates × depth).
bool is_updated_in_place(
    function const& f, use_order const& order, value_id v, region_id r, std::uint32_t position) {
  for (;;) {
    node_id const last = order.last_use_in(v, r);
    if (last == nothing) return false;
    for (use_id const u : f.uses_of(v)) {
      node_id const user = f[u].user, at = ancestor_in(f, user, r);
      // Uses outside of the region are those of another branch, or were judged with the region that has them.
      if (at != nothing && at != last && !is_only_read_by(f, v, user)) return false;
    }
    if (is_counted_loop(f[last].code)) {
      if (!is_once_in(f, v, last) || order.is_used_inside(v, last)) return false;
      region_flow const flow(f, last);
      std::uint32_t k = 0;
      while (flow.initial(k) != v) ++k;
      if (!is_updated_in_place(f, order, flow.argument(k), flow.body(), k)) return false;
      v = flow.final(k);
      continue;
    }
    switch (f[last].code) {
    case op::yield:
      return last == f.yield_of(r) && is_once_in(f, v, last) && f.operand(last, position) == v;
    case op::update:
      if (f.operand(last, 0) != v || !is_once_in(f, v, last) ||
          f[last].operand_count != 2u + f.type_of(v).rank)
        return false;
      v = f.result(last);
      break;
    case op::if_: {
      bool found = false;
      for (std::uint32_t k = 0; !found && k < f[last].result_count; ++k)
        if (f.type_of(f.result(last, k)) == f.type_of(v) &&
            is_updated_in_place(f, order, v, f.region_at(last, 0), k) &&
            is_updated_in_place(f, order, v, f.region_at(last, 1), k)) {
          found = true;
          v = f.result(last, k);
        }
      if (!found) return false;
      break;
    }
    default:
      return false;
    }
  }
}

} // namespace

in_place_arrays::in_place_arrays(function const& f, use_order const& order) : found_(f.value_count()) {
  walk(f, function::body, [&](node_id n) {
    if (!is_counted_loop(f[n].code)) return;
    region_flow const flow(f, n);
    for (std::uint32_t k = 0; k < flow.carried(); ++k) {
      value_id const v = flow.argument(k);
      if (f.type_of(v).rank > 0 && is_updated_in_place(f, order, v, flow.body(), k))
        found_[index_of(v)] = true;
    }
  });
}

} // namespace overdub::ir
