// In-place updates of loop-carried arrays: if nothing else refers to the buffer, the array stays in place during the loop,
// without tests of its reference count.
#include "function.hpp"

namespace overdub::jit {

// Whether an operation has a value as exactly one operand.
bool function_compiler::is_once_in(value_id v, node_id n) const {
  std::uint32_t count = 0;
  for (value_id const x : f_.operands_of(n)) count += x == v;
  return count == 1;
}

// Whether an operation reads numbers of an array, and keeps no reference to it.
bool function_compiler::is_only_read_by(value_id v, node_id n) const {
  switch (f_[n].code) {
  case ir::op::at:
    return type_of(f_.result(n)).rank == 0;
  case ir::op::length:
    return true;
  case ir::op::reduce:
    return f_[n].attributes.operation != ir::op::none && f_.operand(n, 0) == v;
  default:
    return false;
  }
}

// Whether the region yields, at a position, the array v after a chain of updates, between which it is only read. O(uses of
// the array and its updates × depth).
bool function_compiler::is_updated_in_place(value_id v, region_id r, std::uint32_t position) const {
  for (;;) {
    node_id const last = order_.last_use_in(v, r);
    if (last == ir::nothing) return false;
    for (ir::use_id const u : f_.uses_of(v)) {
      node_id const user = f_[u].user;
      if (order_.anchor(u, r) != last && !is_only_read_by(v, user)) return false;
    }
    if (ir::is_counted_loop(f_[last].code)) {
      if (!is_once_in(v, last) || order_.is_used_inside(v, last)) return false;
      ir::region_flow const flow(f_, last);
      std::uint32_t k = 0;
      while (flow.initial(k) != v) ++k;
      if (!is_updated_in_place(flow.argument(k), flow.body(), k)) return false;
      v = flow.final(k);
      continue;
    }
    switch (f_[last].code) {
    case ir::op::yield:
      return last == f_.yield_of(r) && is_once_in(v, last) && f_.operand(last, position) == v;
    case ir::op::update:
      if (f_.operand(last, 0) != v || !is_once_in(v, last) || f_[last].operand_count != 2u + type_of(v).rank)
        return false;
      v = f_.result(last);
      break;
    case ir::op::if_: {
      bool found = false;
      for (std::uint32_t k = 0; !found && k < f_[last].result_count; ++k)
        if (type_of(f_.result(last, k)) == type_of(v) && is_updated_in_place(v, f_.region_at(last, 0), k) &&
            is_updated_in_place(v, f_.region_at(last, 1), k)) {
          found = true;
          v = f_.result(last, k);
        }
      if (!found) return false;
      break;
    }
    default:
      return false;
    }
  }
}

// The loop-carried values that stay in place; their buffers are made unique before the loop.
std::vector<bool>
function_compiler::find_in_place(region_id body, std::uint32_t first_argument, std::vector<value>& start) {
  std::vector<bool> found(start.size());
  for (std::uint32_t k = 0; k < start.size(); ++k) {
    value_id const v = f_.argument(body, first_argument + k);
    if (type_of(v).rank == 0 || !is_updated_in_place(v, body, k)) continue;
    found[k] = true;
    in_place_[index_of(v)] = true;
    make_unique(type_of(v), start[k]);
    set(v, start[k]);
  }
  return found;
}

// The loop-carried array that stays in place, before a chain of updates.
value_id function_compiler::before_updates(value_id array) const {
  while (f_.is_result(array) && f_[f_.node_of(array)].code == ir::op::update)
    array = f_.operand(f_.node_of(array), 0);
  return array;
}

} // namespace overdub::jit
