#include <overdub/implementation/ir/update_chain.hpp>
#include <overdub/ir/bounds.hpp>
#include <overdub/ir/regions.hpp>

#include <cstdint>

namespace overdub::ir {

bool is_size(function const& f, value_id v) {
  constexpr std::uint64_t largest = std::uint64_t{1} << 32;
  if (f.is_literal(v)) return f.bits_of(v) <= largest;
  return f.is_result(v) ? f[f.node_of(v)].code == op::length : is_iteration_index(f, v);
}

value_id before_updates(function const& f, value_id array) {
  constexpr std::uint32_t limit = 8; // asked for every operation, and chains may be long
  return before_updates(f, array, limit);
}

value_id length_of(function const& f, value_id array) {
  array = before_updates(f, array);
  if (!f.is_result(array)) return nothing;
  if (f[f.node_of(array)].code == op::gather) array = before_updates(f, f.operand(f.node_of(array), 1));
  if (!f.is_result(array)) return nothing;
  node_id const n = f.node_of(array);
  switch (f[n].code) {
  case op::map:
  case op::fill:
  case op::iota:
    return f.operand(n, 0);
  case op::slice:
    return f.operand(n, 2);
  default: // a negative trip count of a loop stacks nothing
    if (!is_counted_loop(f[n].code) || !region_flow(f, n).is_stacked(f[array].index)) return nothing;
    return is_size(f, f.operand(n, 0)) ? f.operand(n, 0) : value_id(nothing);
  }
}

bool is_in_range(function const& f, value_id array, value_id i) {
  value_id const size = length_of(f, array);
  if (f.is_literal(i)) {
    if (size != nothing) return f.is_literal(size) && f.bits_of(i) < f.bits_of(size) && is_size(f, size);
    array = before_updates(f, array);
    if (!f.is_result(array)) return false;
    node_id const n = f.node_of(array);
    return f[n].code == op::array && f.bits_of(i) < f[n].operand_count;
  }
  if (!is_iteration_index(f, i)) return false;
  value_id const count = f.operand(f[f.region_of(i)].parent, 0);
  if (size == count) return true;
  if (!f.is_result(count) || f[f.node_of(count)].code != op::length) return false;
  for (value_id const measured : f.operands_of(f.node_of(count)))
    if (before_updates(f, measured) == before_updates(f, array)) return true;
  return false;
}

} // namespace overdub::ir
