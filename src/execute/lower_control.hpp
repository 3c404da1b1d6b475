// Lowering: branches, loops, maps, reductions, accumulators, protection.
#pragma once

#include <overdub/implementation/execute/control_handlers.hpp>
#include <overdub/implementation/execute/flatten.hpp>
#include <overdub/implementation/execute/lowering.hpp>
#include <overdub/implementation/execute/reduce_handlers.hpp>

#include <vector>

namespace overdub::execute {

inline void lowering::lower_if(node_id n) {
  value_id const mask = f_.operand(n, 0);
  std::vector<offset> const to = new_slots(f_.results_of(n));
  std::uint32_t const to_else = out_.jump_if_false({mask, at(mask), is_only_use(mask, n)});
  std::uint32_t to_end = 0;
  for (region_id const r : f_.regions_of(n)) {
    bool const is_else = r != f_.region_at(n, 0);
    if (is_else) out_.land(to_else);
    hint_results(r, to, {});
    lower_region(r);
    yield_to(r, to);
    finish(f_.yield_of(r), to);
    if (!is_else) to_end = out_.emit(&jump::run);
  }
  out_.land(to_end);
}

// The words of loop-carried values, to which the initial values are moved.
inline std::vector<offset>
lowering::start_loop_carried(node_id n, std::uint32_t first_operand, std::uint32_t count) {
  std::vector<offset> to;
  std::vector<move> moves;
  for (std::uint32_t k = 0; k < count; ++k) to.push_back(new_slot(f_.result(n, k)));
  for (std::uint32_t k = 0; k < count; ++k) {
    value_id const v = f_.operand(n, first_operand + k);
    retain_consumed(n, first_operand + k);
    moves.push_back({at(v), to[k], words(v)});
  }
  emit_moves(moves);
  return to;
}

inline void lowering::lower_loop(node_id n) {
  region_id const body = f_.region_at(n, 0);
  std::uint32_t const carried = f_[n].operand_count - 1;
  if (has_elements(f_, n) && lowered_in_blocks(n)) return;
  std::uint32_t const outputs = f_[n].result_count - carried;
  bool const is_reversed = f_[n].attributes.is_reversed();
  std::vector<offset> const to = start_loop_carried(n, 1, carried);
  std::vector<offset> stacked;
  offset const count = at(f_.operand(n, 0));
  for (std::uint32_t k = 0; k < outputs; ++k) {
    value_id const v = f_.result(n, carried + k);
    stacked.push_back(new_slot(v));
    out_.emit(
        &doing<make_stacked>::run, stacked[k], count, offset{type_of(v).rank}, scalar_bytes(type_of(v)));
  }
  value_id const i = f_.argument(body, 0);
  values arguments;
  for (std::uint32_t k = 0; k < carried; ++k) {
    arguments.push_back(f_.argument(body, k + 1));
    assign_slot(arguments[k], to[k]);
  }
  offset const index = words_.allocate(1);
  assign_slot(i, index);
  std::uint32_t const start = out_.emit(is_reversed ? &start_reversed::run : &start_loop::run, index, count);
  std::uint32_t const begin = out_.label();
  out_.set_in_register(i);
  live_in(f_.arguments_of(body), body);
  hint_results(body, to, arguments);
  node_id const last = f_.yield_of(body);
  auto const stack_outputs = [&](bool first) {
    for (std::uint32_t k = 0; k < outputs; ++k)
      if (is_stacked_first(ir::use_id{f_[last].first_operand + carried + k}, body) == first)
        store_output(f_.operand(last, carried + k), index, stacked[k]);
  };
  stack_outputs(true);
  lower_region(body);
  stack_outputs(false);
  yield_to(body, to);
  finish(last, to);
  std::uint32_t const next = out_.emit(is_reversed ? &next_reversed::run : &next_loop::run, index, count);
  out_[next].c = emitter::displacement(next, begin);
  out_.land(start);
  words_.free(index, 1);
}

inline void lowering::lower_while(node_id n) {
  region_id const condition = f_.region_at(n, 0), body = f_.region_at(n, 1);
  std::uint32_t const carried = f_[n].operand_count;
  std::uint32_t const outputs = f_[n].result_count - carried;
  std::vector<offset> const to = start_loop_carried(n, 0, carried);
  std::vector<offset> stacked;
  for (std::uint32_t k = 0; k < outputs; ++k) {
    value_id const v = f_.result(n, carried + k);
    stacked.push_back(new_slot(v));
    out_.emit(&doing<make_growing>::run, stacked[k], 0, 0, shape_code(type_of(v)));
  }
  values arguments;
  for (std::uint32_t k = 0; k < carried; ++k) {
    assign_slot(f_.argument(condition, k), to[k]); // which the body still needs: this is no last use
    arguments.push_back(f_.argument(body, k));
    assign_slot(arguments[k], to[k]);
  }
  std::uint32_t const begin = out_.label();
  lower_region(condition);
  std::uint32_t const end = jump_unless(condition);
  live_in(f_.arguments_of(body), body);
  hint_results(body, to, arguments);
  lower_region(body);
  node_id const last = f_.yield_of(body);
  for (std::uint32_t k = 0; k < outputs; ++k) {
    value_id const v = f_.operand(last, carried + k);
    out_.emit(&doing<push>::run, stacked[k], at(v), 0, shape_code(type_of(f_.result(n, carried + k))));
  }
  yield_to(body, to);
  finish(last, to);
  std::uint32_t const back = out_.emit(&jump::run);
  out_[back].c = emitter::displacement(back, begin);
  out_.land(end);
}

// Iterations that are independent.
inline bool lowering::lowered_in_blocks(node_id n) {
  if (lanes_ != nullptr) return false; // an enclosing map is vectorised already
  lane_plan const plan(f_, f_.region_at(n, 0));
  if (plan.fits()) lower_in_blocks(n, plan);
  return plan.fits();
}

inline void lowering::lower_map(node_id n) {
  if (lowered_in_blocks(n)) return;
  region_id const body = f_.region_at(n, 0);
  offset const count = at(f_.operand(n, 0));
  std::vector<offset> made;
  for (value_id const v : f_.results_of(n)) {
    made.push_back(new_slot(v));
    out_.emit(
        &doing<make_mapped>::run, made.back(), count, offset{type_of(v).rank}, scalar_bytes(type_of(v)));
  }
  if (made.empty()) out_.emit(&doing<check_count>::run, 0, count);
  value_id const i = f_.argument(body, 0);
  offset const index = words_.allocate(1);
  assign_slot(i, index);
  std::uint32_t const start = out_.emit(&start_loop::run, index, count);
  std::uint32_t const begin = out_.label();
  out_.set_in_register(i);
  live_in(i, body);
  lower_region(body);
  node_id const last = f_.yield_of(body);
  for (std::uint32_t k = 0; k < made.size(); ++k) store_output(f_.operand(last, k), index, made[k]);
  finish(last);
  std::uint32_t const next = out_.emit(&next_loop::run, index, count);
  out_[next].c = emitter::displacement(next, begin);
  out_.land(start);
  words_.free(index, 1);
}

inline void lowering::lower_reduce(node_id n) {
  if (f_[n].attributes.operation == ir::op::none) return lower_reduce_by_region(n);
  value_id const array = f_.operand(n, 0), result = f_.result(n);
  offset const initial = f_[n].attributes.is_started() ? at(f_.operand(n, 1)) : 0;
  offset const where = new_slot(result);
  if (is_fused(n)) {
    fused_map const map = take_fused_map(n);
    bool const is_double = type_of(result) == ir::f64;
    out_.emit(
        is_double ? &doing<finish_block_reduction<double>>::run : &doing<finish_block_reduction<i64>>::run,
        where, map.state, initial, number(f_[n].attributes.operation));
    return words_.free(map.state, block_reduction::size);
  }
  out_.emit(
      reduce_handlers[type_index(type_of(array).element)], where, at(array), initial,
      number(f_[n].attributes.operation));
}

inline void lowering::lower_reduce_by_region(node_id n) {
  region_id const region = f_.region_at(n, 0);
  bool const started = f_[n].attributes.is_started(), in_lanes = f_[n].attributes.is_in_lanes();
  std::uint32_t const count = f_[n].result_count;
  values arrays;
  offset words_each = 0;
  for (std::uint32_t k = 0; k < count; ++k) {
    arrays.push_back(f_.operand(n, k));
    words_each += words(f_.result(n, k));
  }
  offset const size = reduction::size(words_each);
  offset const state = words_.allocate(size);
  // The offset of the k-th component of a value: the current one, left, right, the initial one.
  auto const component = [&](offset which, std::uint32_t k) {
    offset where = reduction::value_at(state, words_each, which);
    for (std::uint32_t i = 0; i < k; ++i) where += words(f_.result(n, i)) * word_size;
    return where;
  };
  std::vector<move> moves;
  for (std::uint32_t k = 0; started && k < count; ++k) {
    value_id const v = f_.operand(n, count + k);
    retain_consumed(n, count + k);
    moves.push_back({at(v), component(reduction::initial, k), words(v)});
  }
  emit_moves(moves);
  offset const length = common_length_of(arrays, "reduce");
  offset const flags = words_and_start(words_each, started);
  std::uint32_t const start = out_.emit(&deciding<start_reduction>::run, state, flags, length);

  std::uint32_t const fetch = out_.label();
  offset const index = state + reduction::index * word_size;
  std::vector<offset> current;
  for (std::uint32_t k = 0; k < count; ++k) {
    current.push_back(component(reduction::current, k));
    ir::type const t = type_of(arrays[k]);
    if (t.rank == 1)
      out_.emit(load_handlers[type_index(t.element)][0], current[k], at(arrays[k]), index);
    else {
      offset const list[] = {at(arrays[k]), offset{t.rank}, 1, index};
      out_.emit(&doing<part_of>::run, current[k], out_.list(list), 0, scalar_bytes(t));
      out_.emit(&retain_owner::run, 0, current[k] + word_size);
    }
  }
  std::uint32_t const next =
      out_.emit(in_lanes ? &deciding<next_in_lanes>::run : &deciding<next_in_tree>::run, state, flags);
  out_[next].b = emitter::displacement(next, fetch);
  std::uint32_t const over = out_.emit(&jump::run);

  std::uint32_t const combine = out_.label();
  out_[next].c = emitter::displacement(next, combine);
  for (std::uint32_t k = 0; k < count; ++k) {
    assign_slot(f_.argument(region, k), component(reduction::left, k));
    assign_slot(f_.argument(region, count + k), component(reduction::right, k));
  }
  live_in(f_.arguments_of(region), region);
  hint_results(region, current, {});
  lower_region(region);
  yield_to(region, current);
  finish(f_.yield_of(region), current);
  std::uint32_t const again = out_.emit(&jump::run);
  out_[again].c = emitter::displacement(again, next);

  out_.land(over);
  out_.land(start);
  if (arrays.size() > 1) words_.free(length, 1);
  moves.clear();
  for (std::uint32_t k = 0; k < count; ++k)
    moves.push_back({current[k], new_slot(f_.result(n, k)), words(f_.result(n, k))});
  emit_moves(moves);
  words_.free(state, size);
}

// Accumulators are unique arrays while the region runs.
inline void lowering::lower_accumulate(node_id n) {
  region_id const region = f_.region_at(n, 0);
  std::uint32_t const count = f_[n].operand_count;
  std::vector<offset> const to = start_loop_carried(n, 0, count);
  for (std::uint32_t k = 0; k < count; ++k) {
    ir::type const t = type_of(f_.result(n, k));
    out_.emit(&doing<own>::run, 0, to[k], offset{t.rank}, scalar_bytes(t));
    assign_slot(f_.argument(region, k), to[k]);
  }
  std::vector<offset> more;
  for (std::uint32_t k = count; k < f_[n].result_count; ++k) more.push_back(new_slot(f_.result(n, k)));
  hint_results(region, more, {});
  lower_region(region);
  yield_to(region, more);
  finish(f_.yield_of(region), more);
}

inline void lowering::lower_protect(node_id n) {
  std::vector<offset> const to = new_slots(f_.results_of(n));
  region_id const tried = f_.region_at(n, 0), failed = f_.region_at(n, 1);
  std::uint32_t const guard = out_.emit(&protect::run);
  lower_region(tried);
  yield_to(tried, to);
  finish(f_.yield_of(tried), to);
  out_.emit(&doing<unprotect>::run);
  std::uint32_t const end = out_.emit(&jump::run);
  out_.land(guard);
  lower_region(failed);
  finish(f_.yield_of(failed));
  out_.emit(&doing<rethrow>::run);
  out_.land(end);
}

} // namespace overdub::execute
