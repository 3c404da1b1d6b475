// Checkpointing: a loop saves its loop-carried values in some iterations only. The backward pass recomputes the others from
// the preceding checkpoint. The schedule is that of Griewank and Walther, Algorithm 799: Revolve (2000), which minimises
// the number of recomputed iterations.
#pragma once

#include <overdub/reverse/writer.hpp>

#include <algorithm>
#include <cstdint>

namespace overdub::adjoint {

/// Whether a loop is checkpointed: a limit is set, the loop is nested in no other loop, and its iterations have no side
/// effects.
inline bool writer::is_checkpointed(node_id n) const {
  if (checkpointing_.kind == checkpointing::strategy::none || !ir::is_counted_loop(f()[n].code)) return false;
  if (is_in_loop(f(), n)) return false;
  region_id const body = flow(n).body();
  values carried;
  for (std::uint32_t i = 0; i < flow(n).carried(); ++i) carried.push_back(flow(n).argument(i));
  if (carried.empty()) return false;
  if (f()[n].result_count > carried.size() && replaces_elements(n)) return false; // it is not strip-mined
  fixed_shapes const shapes(f(), callees_, body, carried, f().yield_of(body));
  for (std::uint32_t i = 0; i < carried.size(); ++i) {
    ir::type const t = type_of(carried[i]);
    if (!ir::type{t.element}.is_literal() || t.is_accumulator) return false;
    if (t.rank == 0) continue;
    if (!shapes.has(carried[i]) && !has_length_of(flow(n).next(i), flow(n).initial(i))) return false;
  }
  return callees_.effects().in_region(f(), body).can_merge();
}
/// Whether an array of numbers is created with the length of another array, which is known.
inline bool writer::has_length_of(value_id made, value_id other) const {
  if (type_of(made).rank != 1 || !f().is_result(made)) return false;
  node_id const n = f().node_of(made);
  if (!ir::is_map(f()[n].code) && f()[n].code != op::fill) return false;
  return ir::length_of(f(), other) == f().operand(n, 0);
}

/// The initial state, in the first slot.
inline writer::checkpoints writer::first_checkpoint(node_id n, values const& initial) {
  checkpoints c;
  c.trip_count = f().operand(n, 0);
  c.is_reversed = f()[n].attributes.is_reversed();
  c.loop = n;
  value_id const slots = slots_for(c.trip_count, initial, replaces_elements(n) ? states_of_block : 0);
  c.used = index(1);
  c.iterations = at_.add(op::fill, slots, index(0));
  for (value_id const v : initial) c.states.push_back(at_.add(op::fill, slots, v));
  return c;
}

/// The number of slots that fit into the memory limit, at least 2.
inline value_id writer::slots_for(value_id trip_count, values const& states, std::int64_t fewer) {
  if (checkpointing_.kind == checkpointing::strategy::logarithmic) {
    auto const is_positive = [&](values const& v) { return at_.add(op::gt, v[0], index(0)); };
    auto const halve = [&](values const& v) {
      return values{at_.add(op::div, v[0], index(2)), at_.add(op::add, v[1], index(1))};
    };
    return build().while_({trip_count, index(2)}, is_positive, halve).results[1];
  }
  value_id bytes = index(sizeof(std::int64_t)); // the slot's iteration
  for (value_id const v : states) bytes = at_.add(op::add, bytes, bytes_of(v));
  value_id fit = at_.add(op::div, index(checkpointing_.bytes), bytes);
  if (fewer > 0) fit = at_.add(op::sub, fit, index(fewer));
  // Products with the trip count stay in the range of i64.
  value_id const most = at_.add(op::min, fit, index(std::int64_t{1} << 30));
  value_id const wanted = at_.add(op::min, most, at_.add(op::add, trip_count, index(1)));
  return at_.add(op::max, wanted, index(2));
}
inline value_id writer::bytes_of(value_id v) {
  ir::type const t = type_of(v);
  std::int64_t const size = t.element == ir::scalar::boolean ? 1 : t.element == ir::scalar::f32 ? 4 : 8;
  if (t.rank == 0) return index(size);
  value_id const elements = at_.add(op::length, v);
  if (t.rank == 1) return at_.add(op::mul, elements, index(size));
  // An empty array has no first row.
  value_id const has_rows = at_.add(op::gt, elements, index(0));
  value_id const of_row = build().if_(
      has_rows, [&] { return bytes_of(at_.add(op::at, v, index(0))); }, [&] { return index(0); });
  return at_.add(op::mul, elements, of_row);
}

/// The loop-carried values at the start of an iteration. Iterations from the last checkpoint on are recomputed, and leave
/// new checkpoints. The slot of the returned state is freed.
inline writer::values writer::restore(checkpoints& c, value_id of_index) {
  // The execution order of a reversed loop; its own inverse.
  auto const iteration_of = [&](value_id i) {
    if (!c.is_reversed) return i;
    return at_.add(op::sub, at_.add(op::sub, c.trip_count, index(1)), i);
  };
  value_id const iteration = iteration_of(of_index);
  value_id const slots = at_.add(op::length, c.iterations);
  values open{c.used, c.iterations};
  open.insert(open.end(), c.states.begin(), c.states.end());
  auto const last = [&](value_id array, value_id used) {
    return at_.add(op::at, array, at_.add(op::sub, used, index(1)));
  };
  auto const is_before = [&](values const& v) { return at_.add(op::lt, last(v[1], v[0]), iteration); };
  auto const advance = [&](values const& v) {
    value_id const from = last(v[1], v[0]);
    value_id const iterations = at_.add(op::add, at_.add(op::sub, iteration, from), index(1));
    value_id const steps = distance(iterations, at_.add(op::sub, slots, v[0]));
    values state;
    for (std::size_t i = 2; i < v.size(); ++i) state.push_back(last(v[i], v[0]));
    auto const again = build().loop(steps, state, [&](value_id i, values const& carried) {
      primal_copy const copied = copy_iteration(c.loop, iteration_of(at_.add(op::add, from, i)), carried);
      values yields;
      for (std::uint32_t k = 0; k < carried.size(); ++k) yields.push_back(f().operand(copied.end(), k));
      at_.yield(yields);
      sweep(copied);
    });
    values next{
        at_.add(op::add, v[0], index(1)), at_.add(op::update, v[1], v[0], at_.add(op::add, from, steps))};
    for (std::size_t i = 0; i < state.size(); ++i)
      next.push_back(at_.add(op::update, v[i + 2], v[0], again.results[i]));
    return next;
  };
  open = build().while_(open, is_before, advance).results;
  values states;
  for (std::size_t i = 2; i < open.size(); ++i) states.push_back(last(open[i], open[0]));
  c.used = at_.add(op::sub, open[0], index(1));
  c.iterations = open[1];
  c.states.assign(open.begin() + 2, open.end());
  return states;
}

/// The distance from a checkpoint to the next one, when `slots` slots are left for `iterations` iterations.
///
/// Let beta(s, r) = C(s + r, s): so many iterations can be reversed with s slots if none is recomputed more than r times.
/// For the smallest r that suffices, the distance is beta(s, r - 2), or more where beta(s - 1, r) is too small for the
/// rest.
inline value_id writer::distance(value_id iterations, value_id slots) {
  auto const is_too_small = [&](values const& v) { return at_.add(op::lt, v[1], iterations); };
  auto const grow = [&](values const& v) {
    value_id const r = at_.add(op::add, v[0], index(1));
    value_id const more = at_.add(op::mul, v[1], at_.add(op::add, slots, r));
    return values{r, at_.add(op::div, more, r)};
  };
  values const found = build().while_({index(0), index(1)}, is_too_small, grow).results;
  value_id const r = found[0], all = at_.add(op::add, slots, r); // not 0: there are at least two iterations
  value_id const fewer = at_.add(op::div, at_.add(op::mul, found[1], r), all);
  value_id const r_before = at_.add(op::sub, r, index(1));
  value_id const all_before = at_.add(op::max, at_.add(op::sub, all, index(1)), index(1));
  value_id const smallest = at_.add(op::div, at_.add(op::mul, fewer, r_before), all_before);
  value_id const others = at_.add(op::div, at_.add(op::mul, found[1], slots), all);
  value_id const too_many = at_.add(op::sub, iterations, others);
  return at_.add(op::max, at_.add(op::max, smallest, too_many), index(1));
}

} // namespace overdub::adjoint
