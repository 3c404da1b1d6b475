// Vectorised lowering: uniform control flow, divergent branches, and nested maps.
#pragma once

#include <overdub/implementation/execute/block_reduce_handlers.hpp>
#include <overdub/implementation/execute/lower_lanes.hpp>
#include <overdub/implementation/ir/only_reduction.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace overdub::execute {

inline std::vector<offset> lane_lowering::new_results(std::span<value_id const> all) {
  std::vector<offset> where;
  for (value_id const v : all)
    where.push_back(is_lanes(v) && type_of(v).rank == 0 ? new_lanes(v) : new_slot(v));
  return where;
}

// The operands of an operation as initial loop-carried values.
inline std::vector<offset>
lane_lowering::start_loop_carried_lanes(node_id n, std::uint32_t first_operand, std::uint32_t count) {
  values results;
  for (std::uint32_t k = 0; k < count; ++k) results.push_back(f_.result(n, k));
  std::vector<offset> const to = new_results(results);
  std::vector<move> moves;
  for (std::uint32_t k = 0; k < count; ++k) {
    value_id const v = f_.operand(n, first_operand + k);
    if (is_lanes(results[k]) && !is_lanes(v)) {
      type_of(v).rank == 0 ? emit_fill(v, to[k]) : emit_broadcast(v, to[k]);
      continue;
    }
    retain_consumed(n, first_operand + k);
    bool const lanes = is_lanes(v) && type_of(v).rank == 0;
    moves.push_back({at(v), to[k], words(v), lanes ? lane_size_of(type_of(v).element) : 0});
  }
  emit_moves(moves);
  return to;
}

// The values that a region yields become these results, at `to`.
inline void
lane_lowering::yield_lanes(region_id r, std::span<offset const> to, std::span<value_id const> results) {
  node_id const last = f_.yield_of(r);
  std::vector<move> moves;
  values spread; // arrays that are broadcast to arrays of lanes
  for (std::size_t k = 0; k < results.size(); ++k) {
    value_id const v = f_.operand(last, static_cast<std::uint32_t>(k));
    bool const is_scalar = type_of(v).rank == 0;
    if (is_lanes(results[k]) && is_scalar)
      moves.push_back({lanes_of(v), to[k], 1, lane_size_of(type_of(v).element)});
    else if (!is_lanes(results[k]) || is_lanes(v)) {
      retain_consumed(last, static_cast<std::uint32_t>(k));
      moves.push_back({at(v), to[k], words(v)});
    } else {
      offset const aside = words_.allocate(words(v));
      emit_broadcast(v, aside);
      moves.push_back({aside, to[k], words(v)});
      aside_.push_back({0, aside, words(v)});
    }
  }
  release_overwritten(last, to);
  emit_moves(moves);
}

// Destinations as hints: for varying results whose yielded value varies, and for uniform ones with a uniform value.
inline std::vector<offset> lane_lowering::fitting_places(
    region_id r, std::span<offset const> to, std::span<value_id const> results) const {
  std::vector<offset> places;
  for (std::size_t k = 0; k < to.size(); ++k) {
    value_id const v = f_.operand(f_.yield_of(r), static_cast<std::uint32_t>(k));
    places.push_back(is_lanes(v) == is_lanes(results[k]) ? to[k] : no_word);
  }
  return places;
}

inline void lane_lowering::lane_if(node_id n) {
  values results;
  for (value_id const v : f_.results_of(n)) results.push_back(v);
  std::vector<offset> const to = new_results(results);
  value_id const mask = f_.operand(n, 0);
  std::uint32_t const to_else = out_.jump_if_false({mask, at(mask), is_only_use(mask, n)});
  std::uint32_t to_end = 0;
  for (region_id const r : f_.regions_of(n)) {
    bool const is_else = r != f_.region_at(n, 0);
    if (is_else) out_.land(to_else);
    lanes_->last = {};
    hint_results(r, fitting_places(r, to, results), {});
    lower_region(r, ir::nothing);
    yield_lanes(r, to, results);
    finish(f_.yield_of(r), to);
    if (!is_else) to_end = out_.emit(&jump::run);
  }
  out_.land(to_end);
  lanes_->last = {};
}

// The mask of a branch that adds to accumulators: inactive lanes add nothing. Returns the rows of the mask.
inline std::vector<offset> lane_lowering::branch_mask(node_id n, bool is_else) {
  std::vector<offset> rows;
  if (!lanes_->plan.adds_in(f_.region_at(n, is_else ? 1 : 0))) return rows;
  offset mask = at(f_.operand(n, 0));
  auto const combined = [&](ir::op code, offset other) {
    rows.push_back(take_row());
    offset const to = pointer_to(rows.back());
    out_.emit(
        lane_handlers[static_cast<std::size_t>(code)][type_index(ir::scalar::boolean)][0], to, mask, other);
    mask = to;
  };
  if (is_else) combined(ir::op::logical_not, 0);
  if (lanes_->mask != no_word) combined(ir::op::logical_and, lanes_->mask);
  lanes_->mask = mask;
  return rows;
}

// If-conversion: both branches run for all lanes, unless no lane needs one; then each lane selects its result.
inline void lane_lowering::lane_masked_if(node_id n) {
  offset const mask = at(f_.operand(n, 0)), outer = lanes_->mask;
  std::vector<offset> rows, to[2];
  values results;
  for (value_id const v : f_.results_of(n)) results.push_back(v);
  for (auto& branch : to)
    for (std::size_t k = 0; k < results.size(); ++k) {
      rows.push_back(take_row());
      branch.push_back(pointer_to(rows.back()));
    }
  for (region_id const r : f_.regions_of(n)) {
    bool const is_else = r != f_.region_at(n, 0);
    std::uint32_t const skip = out_.emit(
        is_else ? &deciding<jump_if_uniform<true>>::run : &deciding<jump_if_uniform<false>>::run, 0, mask);
    std::vector<offset> const mask_rows = branch_mask(n, is_else);
    hint_results(r, fitting_places(r, to[is_else], results), {});
    lower_region(r, ir::nothing);
    yield_lanes(r, to[is_else], results);
    finish(f_.yield_of(r), to[is_else]);
    lanes_->mask = outer;
    for (offset const row : mask_rows) lanes_->rows.free(row * word_size, 1);
    out_.land(skip);
    lanes_->last = {};
  }
  for (std::size_t k = 0; k < results.size(); ++k) {
    lane_variants const& select =
        lane_handlers[static_cast<std::size_t>(ir::op::select)][type_index(type_of(results[k]).element)];
    out_.emit(select[0], new_lanes(results[k]), mask, to[0][k], to[1][k]);
  }
  for (offset const row : rows) lanes_->rows.free(row * word_size, 1);
}

// Destinations for the results of a loop or map: scalars of lanes are computed in place, at `places`.
inline void
lane_lowering::store_lanes(value_id v, value_id result, offset index, offset array, offset place) {
  ir::type const t = type_of(v);
  if (!is_lanes(result)) return store_output(v, index, array);
  if (t.rank > 0) {
    offset const row = array_of_lanes(v);
    out_.emit(
        &doing<store_row>::run, array, index, row, rank_and_size(offset{t.rank} + 1, row_size_of(t.element)));
  } else if (!is_lanes(v))
    emit_fill(v, place);
  else if (at(v) != place)
    out_.emit(&doing<lane_copy>::run, place, at(v), 0, lane_size_of(t.element));
}

inline void lane_lowering::place_outputs(
    std::span<value_id const> results, std::span<offset const> arrays, std::span<offset const> places,
    offset index) {
  for (std::size_t k = 0; k < results.size(); ++k)
    if (places[k] != no_word && arrays[k] != no_word)
      out_.emit(&doing<lane_row>::run, places[k], arrays[k], index, row_size_of(type_of(results[k]).element));
}

// A word for the pointer to the destination of each output that is a scalar in lanes.
inline std::vector<offset> lane_lowering::new_places(std::span<value_id const> results) {
  std::vector<offset> places;
  for (value_id const v : results)
    places.push_back(is_lanes(v) && type_of(v).rank == 1 ? words_.allocate(1) : no_word);
  return places;
}

inline void lane_lowering::free_destinations(std::span<offset const> places) {
  for (offset const p : places)
    if (p != no_word) words_.free(p, 1);
}

inline offset lane_lowering::new_output(value_id v, offset count, handler make) {
  offset const where = new_slot(v);
  ir::type const t = type_of(v);
  out_.emit(make, where, count, offset{t.rank}, is_lanes(v) ? row_size_of(t.element) : scalar_bytes(t));
  return where;
}

inline void lane_lowering::lane_loop(node_id n) {
  region_id const body = f_.region_at(n, 0);
  std::uint32_t const carried = f_[n].operand_count - 1;
  bool const is_reversed = f_[n].attributes.is_reversed();
  std::vector<offset> to = start_loop_carried_lanes(n, 1, carried);
  values results, outputs, arguments;
  for (std::uint32_t k = 0; k < f_[n].result_count; ++k)
    (k < carried ? results : outputs).push_back(f_.result(n, k));
  offset const count = at(f_.operand(n, 0));
  std::vector<offset> arrays;
  for (value_id const v : outputs) arrays.push_back(new_output(v, count, &doing<make_stacked>::run));
  std::vector<offset> const places = new_places(outputs);
  for (std::uint32_t k = 0; k < carried; ++k) {
    arguments.push_back(f_.argument(body, k + 1));
    assign_slot(arguments[k], to[k]);
  }
  value_id const i = f_.argument(body, 0);
  offset const index = words_.allocate(1);
  assign_slot(i, index);
  std::uint32_t const start = out_.emit(is_reversed ? &start_reversed::run : &start_loop::run, index, count);
  std::uint32_t const begin = out_.label();
  lanes_->last = {};
  place_outputs(outputs, arrays, places, index);
  live_in(f_.arguments_of(body), body);
  values all = results;
  all.insert(all.end(), outputs.begin(), outputs.end());
  std::vector<offset> hints = to;
  hints.insert(hints.end(), places.begin(), places.end());
  arguments.resize(all.size(), ir::nothing);
  hint_results(body, fitting_places(body, hints, all), arguments);
  ++lanes_->depth;
  lower_region(body, ir::nothing);
  node_id const last = f_.yield_of(body);
  for (std::uint32_t k = 0; k < outputs.size(); ++k)
    store_lanes(f_.operand(last, carried + k), outputs[k], index, arrays[k], places[k]);
  yield_lanes(body, to, results);
  release_temporaries();
  lane_add_early(body);
  --lanes_->depth;
  finish(last, to);
  std::uint32_t const next = out_.emit(is_reversed ? &next_reversed::run : &next_loop::run, index, count);
  out_[next].c = emitter::displacement(next, begin);
  out_.land(start);
  lanes_->last = {};
  words_.free(index, 1);
  free_destinations(places);
}

inline void lane_lowering::lane_while(node_id n) {
  region_id const condition = f_.region_at(n, 0), body = f_.region_at(n, 1);
  std::uint32_t const carried = f_[n].operand_count;
  std::vector<offset> const to = start_loop_carried_lanes(n, 0, carried);
  std::vector<offset> stacked; // of uniform outputs
  for (std::uint32_t k = carried; k < f_[n].result_count; ++k) {
    value_id const v = f_.result(n, k);
    stacked.push_back(new_slot(v));
    out_.emit(&doing<make_growing>::run, stacked.back(), 0, 0, shape_code(type_of(v)));
  }
  values arguments, results;
  for (std::uint32_t k = 0; k < carried; ++k) {
    assign_slot(f_.argument(condition, k), to[k]);
    arguments.push_back(f_.argument(body, k));
    assign_slot(arguments[k], to[k]);
    results.push_back(f_.result(n, k));
  }
  std::uint32_t const begin = out_.label();
  lanes_->last = {};
  lower_region(condition, ir::nothing);
  std::uint32_t const end = jump_unless(condition);
  live_in(f_.arguments_of(body), body);
  hint_results(body, fitting_places(body, to, results), arguments);
  ++lanes_->depth;
  lower_region(body, ir::nothing);
  node_id const last = f_.yield_of(body);
  for (std::uint32_t k = 0; k < stacked.size(); ++k) {
    value_id const v = f_.operand(last, carried + k);
    out_.emit(&doing<push>::run, stacked[k], at(v), 0, shape_code(type_of(f_.result(n, carried + k))));
  }
  yield_lanes(body, to, results);
  release_temporaries();
  lane_add_early(body);
  --lanes_->depth;
  finish(last, to);
  std::uint32_t const back = out_.emit(&jump::run);
  out_[back].c = emitter::displacement(back, begin);
  out_.land(end);
  lanes_->last = {};
}

// The product of doubles that a region yields, if it is computed last, has no other use, and the reduction sums it;
// `of_lanes` requires that both factors are in lanes.
inline frame_slots::node_id lane_lowering::product_to_sum(region_id r, node_id reduce, bool of_lanes) const {
  node_id const last = f_.yield_of(r);
  value_id const v = f_.operand(last, 0);
  if (reduce == ir::nothing || f_[reduce].attributes.operation != ir::op::add) return ir::nothing;
  if (!is_lanes(v) || !f_.is_result(v) || !is_only_use(v, last) || f_[last].operand_count != 1)
    return ir::nothing;
  node_id const n = f_.node_of(v);
  if (f_[n].code != ir::op::mul || type_of(v) != ir::f64 || f_[n].next != last) return ir::nothing;
  if (of_lanes && !(is_lanes(f_.operand(n, 0)) && is_lanes(f_.operand(n, 1)))) return ir::nothing;
  return n;
}

inline void lane_lowering::lane_map(node_id n) {
  region_id const body = f_.region_at(n, 0);
  offset const count = at(f_.operand(n, 0));
  values outputs;
  std::vector<offset> arrays;
  std::vector<offset> places;
  for (value_id const v : f_.results_of(n)) outputs.push_back(v);
  places = new_places(outputs);
  // A result whose only use is a sum is added up while it is computed.
  std::vector<fused_map> sums(outputs.size(), fused_map{ir::nothing, no_word});
  std::vector<offset> more(outputs.size(), no_word);
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    node_id const reduce = is_lanes(outputs[k]) && type_of(outputs[k]) == ir::f64.array_of()
                               ? ir::only_reduction(f_, outputs[k])
                               : node_id(ir::nothing);
    if (reduce == ir::nothing || f_[reduce].attributes.operation != ir::op::add) {
      arrays.push_back(new_output(outputs[k], count, &doing<make_mapped>::run));
      continue;
    }
    offset const rows = lanes_->rows.allocate(8) / word_size;
    (void)pointer_to(rows + 7);
    sums[k] = {reduce, pointer_to(rows), rows, words_.allocate(1)};
    emit_move({count, sums[k].count, 1});
    assign_slot(outputs[k], no_word);
    arrays.push_back(no_word);
    more[k] = take_row();
  }
  bool const checks = std::any_of(arrays.begin(), arrays.end(), [](offset a) { return a != no_word; });
  if (!checks) out_.emit(&doing<check_count>::run, 0, count);
  node_id const product =
      outputs.size() == 1 ? product_to_sum(body, sums[0].reduce, false) : node_id(ir::nothing);

  value_id const i = f_.argument(body, 0);
  offset const index = words_.allocate(1);
  assign_slot(i, index);
  std::uint32_t const start = out_.emit(&start_loop::run, index, count);
  std::uint32_t const begin = out_.label();
  lanes_->last = {};
  place_outputs(outputs, arrays, places, index);
  for (std::size_t k = 0; k < outputs.size(); ++k)
    if (sums[k].reduce != ir::nothing && product == ir::nothing)
      out_.emit(&doing<lane_sum_destination>::run, places[k], sums[k].state, index, pointer_to(more[k]));
  live_in(i, body);
  node_id const last = f_.yield_of(body);
  if (product == ir::nothing) hint_results(body, fitting_places(body, places, outputs), {});
  ++lanes_->depth;
  lower_region(body, product);
  if (product != ir::nothing) {
    value_id a = f_.operand(product, 0), b = f_.operand(product, 1);
    if (!is_lanes(a)) std::swap(a, b);
    out_.emit(
        is_lanes(b) ? &lane_sum_product<lane_kind::in_lanes>::run
                    : &lane_sum_product<lane_kind::uniform>::run,
        sums[0].state, at(a), at(b), index);
    finish(product);
  } else
    for (std::uint32_t k = 0; k < outputs.size(); ++k) {
      store_lanes(f_.operand(last, k), outputs[k], index, arrays[k], places[k]);
      if (sums[k].reduce != ir::nothing) out_.emit(&lane_sum_step::run, sums[k].state, places[k], index);
    }
  release_temporaries();
  lane_add_early(body);
  --lanes_->depth;
  finish(last);
  std::uint32_t const next = out_.emit(&next_loop::run, index, count);
  out_[next].c = emitter::displacement(next, begin);
  out_.land(start);
  lanes_->last = {};
  words_.free(index, 1);
  free_destinations(places);
  for (std::size_t k = 0; k < outputs.size(); ++k)
    if (sums[k].reduce != ir::nothing) {
      lanes_->rows.free(more[k] * word_size, 1);
      fused_maps_.push_back(sums[k]);
    }
}

} // namespace overdub::execute
