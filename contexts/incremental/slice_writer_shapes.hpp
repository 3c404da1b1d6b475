// Which arrays surely have one shape in all turns: those of a loop that carries them, and those of maps around. What is kept of them is
// an array of arrays, which all have one length.
#pragma once

#include <overdub/contexts/incremental/slice_writer_turns.hpp>

namespace overdub::contexts::increments {

/// Whether an array that a loop carries has in all turns the shape that it begins with: each turn gives it that of the last one.
inline bool slice_writer::keeps_shape(node_id loop, std::uint32_t carried) const {
  function const& f = original();
  region_id const body = f.region_at(loop, 0);
  return has_shape_of(
      f.operand(f.yield_of(body), carried), {f.argument(body, carried + 1), f.operand(loop, carried + 1)}, 0);
}

/// Whether a value in the loop has the shape of a carried array, from an axis on.
inline bool slice_writer::has_shape_of(value_id v, carried_array const& a, std::uint32_t axis) const {
  function const& f = original();
  if (v == a.argument) return axis == 0;
  if (!f.is_result(v)) return false;
  node_id const n = f.node_of(v);
  switch (f[n].code) {
  case op::at: {
    std::uint32_t const indices = f[n].operand_count - 1;
    return indices <= axis && has_shape_of(f.operand(n, 0), a, axis - indices);
  }
  case op::update:
  case op::copy:
    return has_shape_of(f.operand(n, 0), a, axis);
  case op::fill:
    return is_length_of(f.operand(n, 0), a, axis) &&
           (f.type_of(v).rank == 1 || has_shape_of(f.operand(n, 1), a, axis + 1));
  case op::map: {
    value_id const row = f.operand(f.yield_of(f.region_at(n, 0)), f[v].index);
    return is_length_of(f.operand(n, 0), a, axis) &&
           (f.type_of(v).rank == 1 || has_shape_of(row, a, axis + 1));
  }
  case op::loop:
    return f[v].index + 1 < f[f.region_at(n, 0)].argument_count && keeps_shape(n, f[v].index) &&
           has_shape_of(f.operand(n, f[v].index + 1), a, axis);
  case op::if_:
    return std::ranges::all_of(f.regions_of(n), [&](region_id r) {
      return has_shape_of(f.operand(f.yield_of(r), f[v].index), a, axis);
    });
  default:
    return false;
  }
}

/// Whether a number is the length of a carried array along an axis.
inline bool slice_writer::is_length_of(value_id count, carried_array const& a, std::uint32_t axis) const {
  function const& f = original();
  if (f.is_result(count) && f[f.node_of(count)].code == op::length)
    for (value_id const v : f.operands_of(f.node_of(count)))
      if (f.type_of(v).rank + axis == f.type_of(a.argument).rank && has_shape_of(v, a, axis)) return true;
  return has_length(a.initial, count, axis);
}

/// Whether an array has so many elements along an axis.
inline bool slice_writer::has_length(value_id v, value_id count, std::uint32_t axis) const {
  function const& f = original();
  auto const is_count = [&](value_id c) {
    if (c == count) return true;
    if (f.is_literal(c) || f.is_literal(count))
      return f.is_literal(c) && f.is_literal(count) && f.bits_of(c) == f.bits_of(count);
    auto const is_length = [&](value_id x) { return f.is_result(x) && f[f.node_of(x)].code == op::length; };
    if (!is_length(c) || !is_length(count)) return false; // lengths of several arrays are one
    auto const all = f.operands_of(f.node_of(count));
    return std::ranges::any_of(
        f.operands_of(f.node_of(c)), [&](value_id x) { return std::ranges::find(all, x) != all.end(); });
  };
  if (axis == 0 && f.is_result(count) && f[f.node_of(count)].code == op::length)
    for (value_id const x : f.operands_of(f.node_of(count)))
      if (x == v) return true;
  if (!f.is_result(v)) return false;
  node_id const n = f.node_of(v);
  switch (f[n].code) {
  case op::copy:
    return has_length(f.operand(n, 0), count, axis);
  case op::fill:
    return axis == 0 ? is_count(f.operand(n, 0)) : has_length(f.operand(n, 1), count, axis - 1);
  case op::map:
    return axis == 0 ? is_count(f.operand(n, 0))
                     : has_length(f.operand(f.yield_of(f.region_at(n, 0)), f[v].index), count, axis - 1);
  case op::loop:
    return f[v].index + 1 < f[f.region_at(n, 0)].argument_count && keeps_shape(n, f[v].index) &&
           has_length(f.operand(n, f[v].index + 1), count, axis);
  default:
    return false;
  }
}

/// Whether an array in maps has one shape in all their turns: numbers in a row, as many as something around them says.
inline bool slice_writer::has_one_shape(value_id v) const {
  function const& f = original();
  if (f.is_literal(v) || is_at_top(f.region_of(v))) return true;
  if (!f.is_result(v)) return false;
  node_id const n = f.node_of(v);
  op const code = f[n].code;
  if (code == op::at) return has_one_shape(f.operand(n, 0)); // rows of one array
  if (f.type_of(v).rank > 1 || (code != op::map && code != op::loop)) return false;
  bool const is_carried = code == op::loop && f[v].index + 1 < f[f.region_at(n, 0)].argument_count;
  if (!is_carried) return has_one_length(n);
  return keeps_shape(n, f[v].index) && has_one_shape(f.operand(n, f[v].index + 1));
}

} // namespace overdub::contexts::increments
