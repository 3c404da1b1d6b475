// Lowering of maps whose elements are run in blocks, and of control inside of them.
#pragma once

#include <overdub/execute/lower_lanes.hpp>

#include <algorithm>
#include <limits>
#include <span>
#include <vector>

namespace overdub::execute {

// ---- control that all lanes share

inline std::vector<offset> lowering::new_results(std::span<value_id const> all) {
  std::vector<offset> where;
  for (value_id const v : all)
    where.push_back(is_lanes(v) && type_of(v).rank == 0 ? new_lanes(v) : new_home(v));
  return where;
}
// The operands of an operation as the first values that it carries.
inline std::vector<offset>
lowering::start_carried_lanes(node_id n, std::uint32_t first_operand, std::uint32_t count) {
  values results;
  for (std::uint32_t k = 0; k < count; ++k) results.push_back(f_.result(n, k));
  std::vector<offset> const to = new_results(results);
  std::vector<move> moves;
  for (std::uint32_t k = 0; k < count; ++k) {
    value_id const v = f_.operand(n, first_operand + k);
    if (is_lanes(results[k]) && !is_lanes(v)) {
      type_of(v).rank == 0 ? emit_fill(v, to[k]) : emit_spread(v, to[k]);
      continue;
    }
    if (is_counted(v) && (is_used_inside(v, n) || !consume(v, n)))
      out_.emit(&retain_owner::run, 0, owner_word(v));
    bool const lanes = is_lanes(v) && type_of(v).rank == 0;
    moves.push_back({at(v), to[k], words(v), lanes ? lane_size_of(type_of(v).element) : 0});
  }
  emit_moves(moves);
  return to;
}
// What a region yields becomes these results, which stand at `to`.
inline void
lowering::yield_lanes(region_id r, std::span<offset const> to, std::span<value_id const> results) {
  node_id const last = f_.yield_of(r);
  std::vector<move> moves;
  values spread; // arrays that become arrays of lanes
  for (std::size_t k = 0; k < results.size(); ++k) {
    value_id const v = f_.operand(last, static_cast<std::uint32_t>(k));
    bool const is_scalar = type_of(v).rank == 0;
    if (!is_lanes(results[k])) {
      give_count(v, last);
      moves.push_back({at(v), to[k], words(v)});
    } else if (is_scalar)
      moves.push_back({lanes_of(v), to[k], 1, lane_size_of(type_of(v).element)});
    else if (is_lanes(v)) {
      give_count(v, last);
      moves.push_back({at(v), to[k], words(v)});
    } else {
      offset const aside = words_.take(words(v));
      emit_spread(v, aside);
      moves.push_back({aside, to[k], words(v)});
      aside_.push_back({0, aside, words(v)});
    }
  }
  emit_moves(moves);
}
// Places for hints: those of results that vary, where what is yielded varies, too, and the other way round.
inline std::vector<offset>
lowering::fitting_places(region_id r, std::span<offset const> to, std::span<value_id const> results) const {
  std::vector<offset> places;
  for (std::size_t k = 0; k < to.size(); ++k) {
    value_id const v = f_.operand(f_.yield_of(r), static_cast<std::uint32_t>(k));
    places.push_back(is_lanes(v) == is_lanes(results[k]) ? to[k] : no_word);
  }
  return places;
}

inline void lowering::lane_if(node_id n) {
  values results;
  for (value_id const v : f_.results_of(n)) results.push_back(v);
  std::vector<offset> const to = new_results(results);
  value_id const truth = f_.operand(n, 0);
  std::uint32_t const to_else = out_.jump_if_false({truth, at(truth), is_only_use(truth, n)});
  std::uint32_t to_end = 0;
  for (region_id const r : f_.regions_of(n)) {
    bool const is_else = r != f_.region_at(n, 0);
    if (is_else) out_.land(to_else);
    lanes_->last = {};
    hint_results(r, fitting_places(r, to, results), {});
    lower_region(r);
    yield_lanes(r, to, results);
    finish(f_.yield_of(r));
    if (!is_else) to_end = out_.emit(&jump::run);
  }
  out_.land(to_end);
  lanes_->last = {};
}

// Both branches run for all lanes, unless no lane needs one; then each lane takes its result.
inline void lowering::lane_masked_if(node_id n) {
  offset const truth = at(f_.operand(n, 0));
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
        is_else ? &deciding<jump_if_uniform<true>>::run : &deciding<jump_if_uniform<false>>::run, 0, truth);
    hint_results(r, fitting_places(r, to[is_else], results), {});
    lower_region(r);
    yield_lanes(r, to[is_else], results);
    finish(f_.yield_of(r));
    out_.land(skip);
    lanes_->last = {};
  }
  for (std::size_t k = 0; k < results.size(); ++k) {
    lane_variants const& select =
        lane_handlers[static_cast<std::size_t>(ir::op::select)][type_index(type_of(results[k]).element)];
    out_.emit(select[0], new_lanes(results[k]), truth, to[0][k], to[1][k]);
  }
  for (offset const row : rows) lanes_->rows.give(row * word_size, 1);
}

// Room for what the iterations of a loop or map give: scalars of lanes are computed right there, at `places`.
inline void lowering::store_lanes(value_id v, value_id result, offset index, offset array, offset place) {
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
inline void lowering::place_outputs(
    std::span<value_id const> results, std::span<offset const> arrays, std::span<offset const> places,
    offset index) {
  for (std::size_t k = 0; k < results.size(); ++k)
    if (places[k] != no_word && arrays[k] != no_word)
      out_.emit(&doing<lane_row>::run, places[k], arrays[k], index, row_size_of(type_of(results[k]).element));
}
// A word for the pointer to the place of each output that is a scalar in lanes.
inline std::vector<offset> lowering::new_places(std::span<value_id const> results) {
  std::vector<offset> places;
  for (value_id const v : results)
    places.push_back(is_lanes(v) && type_of(v).rank == 1 ? words_.take(1) : no_word);
  return places;
}
inline void lowering::give_places(std::span<offset const> places) {
  for (offset const p : places)
    if (p != no_word) words_.give(p, 1);
}
inline offset lowering::new_output(value_id v, offset count, handler make) {
  offset const where = new_home(v);
  ir::type const t = type_of(v);
  out_.emit(make, where, count, offset{t.rank}, is_lanes(v) ? row_size_of(t.element) : scalar_bytes(t));
  return where;
}

inline void lowering::lane_loop(node_id n) {
  region_id const body = f_.region_at(n, 0);
  std::uint32_t const carried = f_[n].operand_count - 1;
  bool const is_reversed = f_[n].attributes.is_reversed();
  std::vector<offset> to = start_carried_lanes(n, 1, carried);
  values results, outputs, arguments;
  for (std::uint32_t k = 0; k < f_[n].result_count; ++k)
    (k < carried ? results : outputs).push_back(f_.result(n, k));
  offset const count = at(f_.operand(n, 0));
  std::vector<offset> arrays;
  for (value_id const v : outputs) arrays.push_back(new_output(v, count, &doing<make_stacked>::run));
  std::vector<offset> const places = new_places(outputs);
  for (std::uint32_t k = 0; k < carried; ++k) {
    arguments.push_back(f_.argument(body, k + 1));
    put_home(arguments[k], to[k]);
  }
  value_id const i = f_.argument(body, 0);
  offset const index = words_.take(1);
  put_home(i, index);
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
  lower_region(body);
  node_id const last = f_.yield_of(body);
  for (std::uint32_t k = 0; k < outputs.size(); ++k)
    store_lanes(f_.operand(last, carried + k), outputs[k], index, arrays[k], places[k]);
  yield_lanes(body, to, results);
  release_temporaries();
  finish(last);
  std::uint32_t const next = out_.emit(is_reversed ? &next_reversed::run : &next_loop::run, index, count);
  out_[next].c = emitter::displacement(next, begin);
  out_.land(start);
  lanes_->last = {};
  words_.give(index, 1);
  give_places(places);
}

inline void lowering::lane_while(node_id n) {
  region_id const condition = f_.region_at(n, 0), body = f_.region_at(n, 1);
  std::uint32_t const carried = f_[n].operand_count;
  std::vector<offset> const to = start_carried_lanes(n, 0, carried);
  std::vector<offset> stacked; // of outputs that do not vary
  for (std::uint32_t k = carried; k < f_[n].result_count; ++k) {
    value_id const v = f_.result(n, k);
    stacked.push_back(new_home(v));
    out_.emit(&doing<make_growing>::run, stacked.back(), 0, 0, shape_code(type_of(v)));
  }
  values arguments, results;
  for (std::uint32_t k = 0; k < carried; ++k) {
    put_home(f_.argument(condition, k), to[k]);
    arguments.push_back(f_.argument(body, k));
    put_home(arguments[k], to[k]);
    results.push_back(f_.result(n, k));
  }
  std::uint32_t const begin = out_.label();
  lanes_->last = {};
  lower_region(condition);
  node_id const decides = f_.yield_of(condition);
  value_id const truth = f_.operand(decides, 0);
  std::uint32_t const end = out_.jump_if_false({truth, at(truth), is_only_use(truth, decides)});
  finish(decides);
  live_in(f_.arguments_of(body), body);
  hint_results(body, fitting_places(body, to, results), arguments);
  lower_region(body);
  node_id const last = f_.yield_of(body);
  for (std::uint32_t k = 0; k < stacked.size(); ++k) {
    value_id const v = f_.operand(last, carried + k);
    out_.emit(&doing<push>::run, stacked[k], at(v), 0, shape_code(type_of(f_.result(n, carried + k))));
  }
  yield_lanes(body, to, results);
  release_temporaries();
  finish(last);
  std::uint32_t const back = out_.emit(&jump::run);
  out_[back].c = emitter::displacement(back, begin);
  out_.land(end);
  lanes_->last = {};
}

// ---- maps whose result is reduced at once

// The reduction of a result by an operation, in the same region, if that is all that it is used for.
inline lowering::node_id lowering::reduced_alone(value_id v) const {
  ir::use_id const u = f_[v].first_use;
  if (u == ir::nothing || f_[u].next != ir::nothing) return ir::nothing;
  node_id const n = f_[u].user;
  bool const is_reduction = f_[n].code == ir::op::reduce && f_[n].attributes.operation != ir::op::none &&
                            f_[n].parent == f_.region_of(v) && f_.operand(n, 0) == v;
  return is_reduction ? n : node_id(ir::nothing);
}
inline bool lowering::is_fused(node_id reduce) const {
  return std::any_of(
      fused_maps_.begin(), fused_maps_.end(), [&](fused_map const& m) { return m.reduce == reduce; });
}
inline lowering::fused_map lowering::take_fused_map(node_id reduce) {
  auto const found = std::find_if(
      fused_maps_.begin(), fused_maps_.end(), [&](fused_map const& m) { return m.reduce == reduce; });
  fused_map const m = *found;
  fused_maps_.erase(found);
  return m;
}
// Whether what a region yields k-th is a product of doubles, computed last and used for nothing else.
inline bool lowering::is_product_in_the_end(region_id r, std::uint32_t k) const {
  node_id const last = f_.yield_of(r);
  value_id const v = f_.operand(last, k);
  if (!is_lanes(v) || !f_.is_result(v) || !is_only_use(v, last) || f_[last].operand_count != 1) return false;
  node_id const n = f_.node_of(v);
  return f_[n].code == ir::op::mul && type_of(v) == ir::f64 && f_[n].next == last;
}

inline void lowering::lane_map(node_id n) {
  region_id const body = f_.region_at(n, 0);
  offset const count = at(f_.operand(n, 0));
  values outputs;
  std::vector<offset> arrays;
  std::vector<offset> places;
  for (value_id const v : f_.results_of(n)) outputs.push_back(v);
  places = new_places(outputs);
  // A sum that a result is used for alone is added up on the way.
  std::vector<fused_map> sums(outputs.size(), fused_map{ir::nothing, no_word});
  std::vector<offset> more(outputs.size(), no_word);
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    node_id const reduce = is_lanes(outputs[k]) && type_of(outputs[k]) == ir::f64.array_of()
                               ? reduced_alone(outputs[k])
                               : node_id(ir::nothing);
    if (reduce == ir::nothing || f_[reduce].attributes.operation != ir::op::add) {
      arrays.push_back(new_output(outputs[k], count, &doing<make_mapped>::run));
      continue;
    }
    offset const rows = lanes_->rows.take(8) / word_size;
    (void)pointer_to(rows + 7);
    sums[k] = {reduce, pointer_to(rows), rows, words_.take(1)};
    emit_move({count, sums[k].count, 1});
    put_home(outputs[k], no_word);
    arrays.push_back(no_word);
    more[k] = take_row();
  }
  bool const checks = std::any_of(arrays.begin(), arrays.end(), [](offset a) { return a != no_word; });
  if (!checks) out_.emit(&doing<check_count>::run, 0, count);
  bool const product = outputs.size() == 1 && sums[0].reduce != ir::nothing && is_product_in_the_end(body, 0);

  value_id const i = f_.argument(body, 0);
  offset const index = words_.take(1);
  put_home(i, index);
  std::uint32_t const start = out_.emit(&start_loop::run, index, count);
  std::uint32_t const begin = out_.label();
  lanes_->last = {};
  place_outputs(outputs, arrays, places, index);
  for (std::size_t k = 0; k < outputs.size(); ++k)
    if (sums[k].reduce != ir::nothing && !product)
      out_.emit(&doing<lane_sum_place>::run, places[k], sums[k].state, index, pointer_to(more[k]));
  live_in(i, body);
  node_id const last = f_.yield_of(body);
  node_id const mul = product ? f_.node_of(f_.operand(last, 0)) : node_id(ir::nothing);
  if (!product) hint_results(body, fitting_places(body, places, outputs), {});
  lower_region(body, mul);
  if (product) {
    value_id a = f_.operand(mul, 0), b = f_.operand(mul, 1);
    if (!is_lanes(a)) std::swap(a, b);
    out_.emit(
        is_lanes(b) ? &lane_sum_product<stands::in_lanes>::run : &lane_sum_product<stands::once>::run,
        sums[0].state, at(a), at(b), index);
    finish(mul);
  } else
    for (std::uint32_t k = 0; k < outputs.size(); ++k) {
      store_lanes(f_.operand(last, k), outputs[k], index, arrays[k], places[k]);
      if (sums[k].reduce != ir::nothing) out_.emit(&lane_sum_step::run, sums[k].state, places[k], index);
    }
  release_temporaries();
  finish(last);
  std::uint32_t const next = out_.emit(&next_loop::run, index, count);
  out_[next].c = emitter::displacement(next, begin);
  out_.land(start);
  lanes_->last = {};
  words_.give(index, 1);
  give_places(places);
  for (std::size_t k = 0; k < outputs.size(); ++k)
    if (sums[k].reduce != ir::nothing) {
      lanes_->rows.give(more[k] * word_size, 1);
      fused_maps_.push_back(sums[k]);
    }
}

// ---- the map itself: its body twice, in lanes and one by one

inline void lowering::lower_in_blocks(node_id n, lane_plan const& plan) {
  region_id const body = f_.region_at(n, 0);
  node_id const last = f_.yield_of(body);
  bool const is_map = f_[n].code == ir::op::map;
  offset const count = at(f_.operand(n, 0));
  offset const block = words_.take(block_words::size), first = block + block_words::first;

  // Results: arrays, or reductions of them.
  struct output {
    value_id result, yielded;
    offset array = no_word; // the result, or three words that stand for the array that is not made
    node_id reduce = ir::nothing;
    offset state = no_word;
    offset place = no_word; // points to where the block's elements go
    offset row = no_word;
  };
  std::vector<output> outputs;
  for (std::uint32_t k = 0; k < f_[n].result_count; ++k) {
    output o{f_.result(n, k), f_.operand(last, k)};
    ir::type const t = type_of(o.yielded);
    o.reduce = t == ir::f64 || t == ir::i64 ? reduced_alone(o.result) : node_id(ir::nothing);
    if (o.reduce != ir::nothing) {
      o.array = words_.take(3);
      o.state = words_.take(block_reduction::size);
      put_home(o.result, no_word);
      out_.emit(&doing<start_block_reduction>::run, o.state);
    } else
      o.array = new_output(o.result, count, is_map ? &doing<make_mapped>::run : &doing<make_stacked>::run);
    outputs.push_back(o);
  }
  if (is_map) out_.emit(&doing<check_count>::run, 0, count);
  offset const memory = words_.take(3);
  std::uint32_t const bind = out_.emit(&doing<bind_lanes>::run, memory);
  std::uint32_t const start =
      out_.emit(&deciding<start_blocks>::run, block, count, as_operand(shared_.options.lanes_from));
  limit_rows_in(body, plan, block, as_operand(shared_.options.longest_row));

  // In lanes.
  std::uint32_t const begin = out_.label();
  std::uint32_t const decide = out_.emit(&deciding<begin_block>::run, block, count);
  lanes_context context{plan, block};
  lanes_ = &context;
  for (output& o : outputs) {
    ir::type const t = type_of(o.yielded);
    if (t.rank > 0) continue;
    if (o.reduce != ir::nothing || t == ir::boolean) {
      o.row = take_row();
      o.place = pointer_to(o.row);
    } else {
      o.place = words_.take(1);
      out_.emit(&doing<lane_output>::run, o.place, o.array, first, scalar_bytes(t));
    }
  }
  value_id const i = plan.index();
  make_strided(i, first, block + block_words::one);
  live_in(i, body);
  bool const product = outputs.size() == 1 && outputs[0].reduce != ir::nothing &&
                       f_[outputs[0].reduce].attributes.operation == ir::op::add &&
                       is_product_in_the_end(body, 0) &&
                       is_lanes(f_.operand(f_.node_of(outputs[0].yielded), 0)) &&
                       is_lanes(f_.operand(f_.node_of(outputs[0].yielded), 1));
  node_id const mul = product ? f_.node_of(outputs[0].yielded) : node_id(ir::nothing);
  if (!product) {
    std::vector<offset> places;
    for (output const& o : outputs) places.push_back(is_lanes(o.yielded) ? o.place : no_word);
    hint_results(body, places, {});
  }
  lower_region(body, mul);
  if (product) {
    out_.emit(
        &doing<block_sum_products>::run, outputs[0].state, at(f_.operand(mul, 0)), at(f_.operand(mul, 1)));
    finish(mul);
  } else
    for (output const& o : outputs) {
      ir::type const t = type_of(o.yielded);
      if (t.rank > 0) {
        store_rows_of_lanes(o.yielded, o.array, first);
        continue;
      }
      offset place = o.place;
      if (!is_lanes(o.yielded))
        emit_fill(o.yielded, place);
      else if (t == ir::boolean)
        place = at(o.yielded);
      else if (at(o.yielded) != place)
        out_.emit(&doing<lane_copy>::run, place, at(o.yielded), 0, lane_size_of(t.element));
      if (o.reduce != ir::nothing)
        reduce_block(o.reduce, t, o.state, o.place);
      else if (t == ir::boolean)
        out_.emit(&doing<lane_store_truths>::run, o.array, place, first);
    }
  finish(last);
  lanes_ = nullptr;
  std::uint32_t const done = out_.emit(&jump::run);

  // One by one.
  out_.land(decide);
  for (output const& o : outputs)
    if (o.reduce != ir::nothing) out_.emit(&doing<lane_window>::run, o.array, o.place, first, word_size);
  offset const index = words_.take(1);
  put_home(i, index);
  emit_move({first, index, 1});
  std::uint32_t const element = out_.label();
  live_in(i, body);
  lower_region(body);
  for (output const& o : outputs) store_output(o.yielded, index, o.array);
  finish(last);
  std::uint32_t const next = out_.emit(&next_loop::run, index, block + block_words::end);
  out_[next].c = emitter::displacement(next, element);
  words_.give(index, 1);
  bool const reduces =
      std::any_of(outputs.begin(), outputs.end(), [](output const& o) { return o.reduce != ir::nothing; });
  if (reduces) out_.emit(&doing<count_block>::run, block);
  for (output const& o : outputs)
    if (o.reduce != ir::nothing) reduce_block(o.reduce, type_of(o.yielded), o.state, o.place);
  out_.land(done);
  std::uint32_t const following = out_.emit(&deciding<next_block>::run, block, count);
  out_[following].c = emitter::displacement(following, begin);
  out_.land(start);

  std::vector<offset> pointers;
  for (std::size_t row = 0; row < context.pointers.size(); ++row)
    if (context.pointers[row] != no_word) {
      pointers.push_back(context.pointers[row]);
      pointers.push_back(static_cast<offset>(row));
      words_.give(context.pointers[row], 1);
    }
  for (offset const step : context.steps) words_.give(step, 1);
  out_[bind].a = out_.list(pointers);
  out_[bind].b = static_cast<offset>(pointers.size() / 2);
  out_[bind].c = context.rows.bytes() / word_size;
  out_.emit(&release_owner::run, 0, memory + word_size);
  words_.give(memory, 3);
  words_.give(block, block_words::size);
  for (output const& o : outputs) {
    if (o.row == no_word && o.place != no_word) words_.give(o.place, 1);
    if (o.reduce == ir::nothing) continue;
    words_.give(o.array, 3);
    fused_maps_.push_back({o.reduce, o.state});
  }
}

// A limit as an operand of an instruction.
inline offset lowering::as_operand(i64 limit) {
  return static_cast<offset>(std::clamp<i64>(limit, 0, std::numeric_limits<std::int32_t>::max()));
}
// Maps over rows that are too long for lanes are found out before they begin.
inline void lowering::limit_rows_in(region_id r, lane_plan const& plan, offset block, offset longest) {
  for (node_id const n : f_.nodes_of(r)) {
    for (region_id const inner : f_.regions_of(n)) limit_rows_in(inner, plan, block, longest);
    if (f_[n].code != ir::op::at || type_of(f_.result(n)).rank == 0 || !plan.varies(f_.result(n))) continue;
    value_id const array = f_.operand(n, 0);
    if (plan.is_outside(array) && !plan.varies(array))
      out_.emit(&doing<limit_rows>::run, block, at(array), offset{type_of(array).rank}, longest);
  }
}
inline void lowering::reduce_block(node_id reduce, ir::type t, offset state, offset place) {
  auto const code = static_cast<offset>(f_[reduce].attributes.operation);
  out_.emit(
      t == ir::f64 ? &doing<block_reduce<double>>::run : &doing<block_reduce<i64>>::run, state, place, 0,
      code);
}
inline void lowering::store_rows_of_lanes(value_id v, offset array, offset first) {
  ir::type const t = type_of(v);
  if (!is_lanes(v)) {
    out_.emit(&doing<lane_store_same_rows>::run, array, at(v), first, shape_code(t.array_of()));
    return;
  }
  with_type(t.element, [&]<class T>(T) {
    out_.emit(&doing<lane_store_rows<T>>::run, array, at(v), first, offset{t.rank} + 1);
  });
}

} // namespace overdub::execute
