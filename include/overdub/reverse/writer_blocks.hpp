// Checkpointing of loops that update arrays in place. A copy of the arrays for each iteration would take longer than the
// iteration. The loop is strip-mined into blocks of iterations, with checkpoints between blocks. The length of a block is chosen
// so that copying the arrays costs about as much as running the block. When the backward pass reaches a block, it runs the
// iterations again, and these save the elements that they overwrite (writer_restore.hpp).
#pragma once

#include <overdub/reverse/update_chains.hpp>
#include <overdub/reverse/writer.hpp>

#include <cstdint>
#include <vector>

namespace overdub::adjoint {

/// Whether a loop updates a loop-carried array in place.
inline bool writer::replaces_elements(node_id n) const {
  for (std::uint32_t i = 0; i < flow(n).carried(); ++i)
    if (update_chains(f()).carries(n, i)) return true;
  return false;
}

/// Recomputes, for the given index, a number that the body of a loop computes from its index and loop-invariant values. Returns
/// nothing if the number depends on other values.
inline value_id writer::at_index(node_id n, value_id number, value_id index_value, int steps) {
  region_id const body = flow(n).body();
  if (number == f().argument(body, 0)) return index_value;
  if (f().is_literal(number)) return number;
  bool const is_inside =
      f().region_of(number) == body || (f().region_of(number) != ir::region_id(function::body) &&
                                        ir::is_within(f(), f()[f().region_of(number)].parent, body));
  if (!is_inside) return number;
  if (steps == 0 || !f().is_result(number)) return ir::nothing;
  node_id const m = f().node_of(number);
  if (!ir::is_elementwise(f()[m].code) || !callees_.effects().of(f(), m).is_pure()) return ir::nothing;
  values operands;
  for (std::uint32_t i = 0; i < f()[m].operand_count; ++i) {
    operands.push_back(at_index(n, f().operand(m, i), index_value, steps - 1));
    if (operands.back() == ir::nothing) return ir::nothing;
  }
  return insert(f()[m].code, operands, type_of(number));
}

/// The largest trip count among the loops and maps of a loop's body, at least 1. Returns nothing if it is not known before
/// the loop.
inline value_id writer::inner_trip_count(node_id n) {
  value_id all = index(1);
  value_id const last = at_.add(op::sub, f().operand(n, 0), index(1));
  std::vector<node_id> loops;
  bool is_known = true;
  ir::walk(f(), flow(n).body(), [&](node_id m) {
    op const code = f()[m].code;
    if (ir::is_counted(code)) loops.push_back(m);
    is_known = is_known && !ir::is_conditional_loop(code) && code != op::call;
  });
  for (node_id const m : loops) {
    value_id most = ir::nothing;
    for (value_id const i : {index(0), last}) {
      constexpr int steps = 8;
      value_id const trip_count = is_known ? at_index(n, f().operand(m, 0), i, steps) : value_id(ir::nothing);
      if (trip_count == ir::nothing) return trip_count;
      most = most == ir::nothing ? trip_count : at_.add(op::max, most, trip_count);
    }
    all = at_.add(op::max, all, most);
  }
  return is_known ? all : value_id(ir::nothing);
}

/// Strip-mines a loop without stacked results.
inline node_id writer::in_blocks(node_id n) {
  ir::cursor const back = at_;
  at_.to_before(n);
  value_id const trip_count = f().operand(n, 0);
  value_id bytes = index(0);
  values initial;
  for (std::uint32_t i = 0; i < flow(n).carried(); ++i) {
    initial.push_back(flow(n).initial(i));
    if (type_of(initial.back()).rank > 0) bytes = at_.add(op::add, bytes, bytes_of(initial.back()));
  }
  // If the cost of an iteration is not known, a block is one iteration.
  value_id const each = inner_trip_count(n);
  value_id length = index(1);
  if (each != ir::nothing) {
    value_id const numbers = at_.add(op::div, bytes, index(sizeof(double)));
    value_id const wanted = at_.add(op::div, numbers, each);
    length = at_.add(op::max, at_.add(op::min, wanted, trip_count), index(1));
  }
  value_id const full = at_.add(op::div, trip_count, length);
  value_id const is_more = at_.add(op::gt, trip_count, at_.add(op::mul, full, length));
  value_id const blocks = at_.add(op::add, full, at_.add(op::select, is_more, index(1), index(0)));

  bool const is_reversed = f()[n].attributes.is_reversed();
  region_id const body = flow(n).body();
  auto const replacing = [&](ir::builder::built made) {
    at_.set_place_of(made.node, f()[n].place);
    for (std::uint32_t i = 0; i < initial.size(); ++i)
      activity_.set(made.results[i], activity_.of(f().result(n, i)));
    return made;
  };
  auto const made = replacing(build().loop(blocks, initial, [&](value_id block, values const& at_start) {
    for (std::uint32_t i = 0; i < initial.size(); ++i)
      activity_.set(at_start[i], activity_.of(flow(n).argument(i)));
    value_id const first = at_.add(op::mul, block, length);
    value_id const count = at_.add(op::min, length, at_.add(op::sub, trip_count, first));
    return replacing(build().loop(count, at_start, [&](value_id i, values const& carried) {
      value_id iteration = at_.add(op::add, first, i);
      if (is_reversed) iteration = at_.add(op::sub, at_.add(op::sub, trip_count, index(1)), iteration);
      clone_map map(activity_);
      map.insert_or_assign(f().argument(body, 0), iteration);
      for (std::uint32_t k = 0; k < carried.size(); ++k)
        map.insert_or_assign(flow(n).argument(k), carried[k]);
      at_.clone_contents(at_.id(), body, map);
    }));
  }));
  at_ = back;
  for (std::uint32_t i = 0; i < initial.size(); ++i)
    replace_restored_version(f().result(n, i), made.results[i]);
  at_.replace(n, made.results);
  return made.node;
}

} // namespace overdub::adjoint
