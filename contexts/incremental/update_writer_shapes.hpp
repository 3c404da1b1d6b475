// Arrays whose shape is invariant: a loop-carried array, in all iterations of its loop; an array in a map, in all iterations of the map.
// The saved values of all iterations are one array of arrays, whose rows must have one length.
#pragma once

#include <overdub/contexts/incremental/update_writer_iterations.hpp>

namespace overdub::contexts::increments {

/// Whether a loop-carried array has its initial shape in all iterations: by induction, each iteration returns it with the shape that it
/// had.
inline bool update_writer::keeps_shape(node_id loop, std::uint32_t loop_carried) const {
  int steps = maximum_shape_steps;
  return keeps_shape(loop, loop_carried, steps);
}
inline bool update_writer::keeps_shape(node_id loop, std::uint32_t loop_carried, int& steps) const {
  function const& f = original();
  region_id const body = f.region_at(loop, 0);
  loop_carried_array const a{f.argument(body, loop_carried + 1), f.operand(loop, loop_carried + 1)};
  return has_shape_of(f.operand(f.yield_of(body), loop_carried), a, 0, steps);
}

/// Whether a value in the loop has the shape of a loop-carried array, from an axis on. Returns false after `steps` operations: branches
/// in a row would be inspected once for each path.
inline bool
update_writer::has_shape_of(value_id v, loop_carried_array const& a, std::uint32_t axis, int& steps) const {
  function const& f = original();
  for (;;) {
    if (v == a.argument) return axis == 0;
    if (!f.is_result(v)) return false;
    node_id const n = f.node_of(v);
    switch (f[n].code) {
    case op::at: {
      std::uint32_t const indices = f[n].operand_count - 1;
      if (indices > axis) return false;
      axis -= indices;
      v = f.operand(n, 0);
      continue;
    }
    case op::update:
    case op::copy:
      v = f.operand(n, 0);
      continue;
    default:
      break;
    }
    if (--steps < 0) return false;
    switch (f[n].code) {
    case op::fill:
      return is_length_of(f.operand(n, 0), a, axis, steps) &&
             (f.type_of(v).rank == 1 || has_shape_of(f.operand(n, 1), a, axis + 1, steps));
    case op::map: {
      value_id const row = f.operand(f.yield_of(f.region_at(n, 0)), f[v].index);
      return is_length_of(f.operand(n, 0), a, axis, steps) &&
             (f.type_of(v).rank == 1 || has_shape_of(row, a, axis + 1, steps));
    }
    case op::loop: {
      std::uint32_t const i = f[v].index;
      if (i + 1 >= f[f.region_at(n, 0)].argument_count || !keeps_shape(n, i, steps)) return false;
      v = f.operand(n, i + 1);
      continue;
    }
    case op::if_:
      return std::ranges::all_of(f.regions_of(n), [&](region_id r) {
        return has_shape_of(f.operand(f.yield_of(r), f[v].index), a, axis, steps);
      });
    default:
      return false;
    }
  }
}

/// Whether a number is the length of a loop-carried array along an axis.
inline bool update_writer::is_length_of(
    value_id count, loop_carried_array const& a, std::uint32_t axis, int& steps) const {
  function const& f = original();
  if (f.is_result(count) && f[f.node_of(count)].code == op::length)
    for (value_id const v : f.operands_of(f.node_of(count)))
      if (f.type_of(v).rank + axis == f.type_of(a.argument).rank && has_shape_of(v, a, axis, steps))
        return true;
  return has_length(a.initial, count, axis, steps);
}

/// Whether an array has this length along an axis.
inline bool update_writer::has_length(value_id v, value_id count, std::uint32_t axis, int& steps) const {
  function const& f = original();
  auto const is_count = [&](value_id c) {
    if (c == count) return true;
    if (f.is_literal(c) || f.is_literal(count))
      return f.is_literal(c) && f.is_literal(count) && f.bits_of(c) == f.bits_of(count);
    auto const is_length = [&](value_id x) { return f.is_result(x) && f[f.node_of(x)].code == op::length; };
    if (!is_length(c) || !is_length(count)) return false; // lengths of several arrays are equal
    auto const all = f.operands_of(f.node_of(count));
    return std::ranges::any_of(
        f.operands_of(f.node_of(c)), [&](value_id x) { return std::ranges::find(all, x) != all.end(); });
  };
  while (--steps >= 0) {
    if (axis == 0 && f.is_result(count) && f[f.node_of(count)].code == op::length)
      for (value_id const x : f.operands_of(f.node_of(count)))
        if (x == v) return true;
    if (!f.is_result(v)) return false;
    node_id const n = f.node_of(v);
    std::uint32_t const i = f[v].index;
    switch (f[n].code) {
    case op::copy:
      v = f.operand(n, 0);
      break;
    case op::fill:
      if (axis == 0) return is_count(f.operand(n, 0));
      v = f.operand(n, 1);
      --axis;
      break;
    case op::map:
      if (axis == 0) return is_count(f.operand(n, 0));
      v = f.operand(f.yield_of(f.region_at(n, 0)), i);
      --axis;
      break;
    case op::loop:
      if (i + 1 >= f[f.region_at(n, 0)].argument_count || !keeps_shape(n, i, steps)) return false;
      v = f.operand(n, i + 1);
      break;
    default:
      return false;
    }
  }
  return false;
}

/// Whether an array has one shape in all iterations of the enclosing maps.
inline bool update_writer::has_uniform_shape(value_id v) const {
  function const& f = original();
  int steps = maximum_shape_steps;
  for (;;) {
    if (f.is_literal(v) || is_outside_loops(f.region_of(v))) return true;
    if (!f.is_result(v)) return false;
    node_id const n = f.node_of(v);
    op const code = f[n].code;
    std::uint32_t const i = f[v].index;
    if (code == op::at) { // rows of one array
      v = f.operand(n, 0);
      continue;
    }
    if (f.type_of(v).rank > 1 || (code != op::map && code != op::loop)) return false;
    bool const is_carried = code == op::loop && i + 1 < f[f.region_at(n, 0)].argument_count;
    if (!is_carried) return has_uniform_length(n);
    if (!keeps_shape(n, i, steps)) return false;
    v = f.operand(n, i + 1);
  }
}

} // namespace overdub::contexts::increments
