#include <overdub/implementation/reverse/captures.hpp>
#include <overdub/implementation/reverse/checkpointer.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace overdub::adjoint {

// Whether a loop is checkpointed: a limit is set, the loop is nested in no other loop, and its iterations have no side
// effects.
bool checkpointer::is_checkpointed(node_id n) const {
  if (checkpointing_.kind == checkpointing::strategy::none || !ir::is_counted_loop(f()[n].code)) return false;
  if (is_in_loop(f(), n)) return false;
  region_id const body = flow(n).body();
  values carried;
  for (std::uint32_t i = 0; i < flow(n).carried(); ++i) carried.push_back(flow(n).argument(i));
  if (carried.empty()) return false;
  if (f()[n].result_count > carried.size() && replaces_elements(n)) return false; // it is not strip-mined
  std::vector<ir::shapes::carried> states;
  for (std::uint32_t i = 0; i < carried.size(); ++i) states.push_back({carried[i], flow(n).next(i)});
  ir::shapes const shapes(f(), callees_.shapes(), body, f().yield_of(body), states);
  for (std::uint32_t i = 0; i < carried.size(); ++i) {
    ir::type const t = type_of(carried[i]);
    if (!ir::type{t.element}.is_literal() || t.is_accumulator) return false;
    if (t.rank == 0) continue;
    if (!shapes.is_invariant(carried[i], body) && !has_length_of(flow(n).next(i), flow(n).initial(i)))
      return false;
  }
  return callees_.effects().in_region(f(), body).can_merge();
}

// Whether an array of numbers is created with the length of another array, which is known.
bool checkpointer::has_length_of(value_id made, value_id other) const {
  if (type_of(made).rank != 1 || !f().is_result(made)) return false;
  node_id const n = f().node_of(made);
  if (!ir::is_map(f()[n].code) && f()[n].code != op::fill) return false;
  return ir::is_length_of(f(), f().operand(n, 0), other);
}

// The initial state, in the first slot.
checkpointer::checkpoints checkpointer::first_checkpoint(node_id n, values const& initial) {
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

// The number of slots that fit into the memory limit, at least 2.
value_id checkpointer::slots_for(value_id trip_count, values const& states, std::int64_t fewer) {
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

value_id checkpointer::bytes_of(value_id v) {
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

// The loop-carried values at the start of an iteration. Iterations from the last checkpoint on are recomputed, and leave
// new checkpoints. The slot of the returned state is freed.
checkpointer::values checkpointer::restore(checkpoints& c, value_id of_index) {
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

// The distance from a checkpoint to the next one, when `slots` slots are left for `iterations` iterations.
//
// Let beta(s, r) = C(s + r, s): so many iterations can be reversed with s slots if none is recomputed more than r times.
// For the smallest r that suffices, the distance is beta(s, r - 2), or more where beta(s - 1, r) is too small for the
// rest.
value_id checkpointer::distance(value_id iterations, value_id slots) {
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

// ---- blocks of iterations

// Whether a loop updates a loop-carried array in place.
bool checkpointer::replaces_elements(node_id n) const {
  for (std::uint32_t i = 0; i < flow(n).carried(); ++i)
    if (update_chains(f()).carries(n, i)) return true;
  return false;
}

// Recomputes, for the given index, a number that the body of a loop computes from its index and loop-invariant values. Returns
// nothing if the number depends on other values.
value_id checkpointer::at_index(node_id n, value_id number, value_id index_value, int steps) {
  region_id const body = flow(n).body();
  if (number == f().argument(body, 0)) return index_value;
  if (f().is_literal(number)) return number;
  if (!ir::is_defined_in(f(), number, body)) return number;
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

// The largest trip count among the loops and maps of a loop's body, at least 1. Returns nothing if it is not known before
// the loop.
value_id checkpointer::inner_trip_count(node_id n) {
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

// Strip-mines a loop without stacked results.
node_id checkpointer::in_blocks(node_id n) {
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
  for (std::uint32_t i = 0; i < initial.size(); ++i) arrays_.replace(f().result(n, i), made.results[i]);
  at_.replace(n, made.results);
  return made.node;
}

} // namespace overdub::adjoint
