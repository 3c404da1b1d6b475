#include <overdub/implementation/ir/maker.hpp>
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

bool is_length_of(function const& f, value_id number, value_id array) {
  if (length_of(f, array) == number) return true;
  node_id const length = maker_of(f, number, op::length);
  if (length == nothing) return false;
  for (value_id const measured : f.operands_of(length))
    if (before_updates(f, measured) == before_updates(f, array)) return true;
  return false;
}

bool is_in_range(function const& f, value_id array, value_id i) {
  if (!f.is_literal(i))
    return is_iteration_index(f, i) && is_length_of(f, f.operand(f[f.region_of(i)].parent, 0), array);
  if (value_id const size = length_of(f, array); size != nothing)
    return f.is_literal(size) && f.bits_of(i) < f.bits_of(size) && is_size(f, size);
  node_id const made = maker_of(f, before_updates(f, array), op::array);
  return made != nothing && f.bits_of(i) < f[made].operand_count;
}

} // namespace overdub::ir
