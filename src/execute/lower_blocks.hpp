// Lowering of vectorised maps: the body is emitted twice, in lanes and element by element.
#pragma once

#include <overdub/implementation/execute/add_handlers.hpp>
#include <overdub/implementation/execute/block_reduce_handlers.hpp>
#include <overdub/implementation/execute/lower_lane_control.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

namespace overdub::execute {

// The outputs: arrays, or reductions of them. Emits the creation of the arrays.
inline std::vector<lane_lowering::block_output> lane_lowering::make_block_outputs(node_id n, offset count) {
  node_id const last = f_.yield_of(f_.region_at(n, 0));
  bool const is_map = f_[n].code == ir::op::map;
  std::vector<block_output> outputs;
  for (std::uint32_t k = 0; k < f_[n].result_count; ++k) {
    block_output o{f_.result(n, k), f_.operand(last, k)};
    ir::type const t = type_of(o.yielded);
    o.reduce = t == ir::f64 || t == ir::i64 ? ir::only_reduction(f_, o.result) : node_id(ir::nothing);
    if (o.reduce != ir::nothing) {
      o.array = words_.allocate(3);
      o.state = words_.allocate(block_reduction::size);
      assign_slot(o.result, no_word);
      out_.emit(&doing<start_block_reduction>::run, o.state);
    } else
      o.array = new_output(o.result, count, is_map ? &doing<make_mapped>::run : &doing<make_stacked>::run);
    outputs.push_back(o);
  }
  if (is_map) out_.emit(&doing<check_count>::run, 0, count);
  return outputs;
}

inline void lane_lowering::lower_in_blocks(node_id n, lane_plan const& plan) {
  region_id const body = f_.region_at(n, 0);
  offset const count = at(f_.operand(n, 0));
  offset const block = words_.allocate(block_words::size);
  std::vector<block_output> outputs = make_block_outputs(n, count);
  offset const memory = words_.allocate(3);
  std::uint32_t const bind = out_.emit(&doing<bind_lanes>::run, memory);
  std::uint32_t const start =
      out_.emit(&deciding<start_blocks>::run, block, count, as_operand(shared_.options.lanes_from));
  limit_rows_in(body, plan, block, as_operand(shared_.options.longest_row));

  std::uint32_t const begin = out_.label();
  std::uint32_t const decide = out_.emit(&deciding<begin_block>::run, block, count);
  ir::counting_rules const rules{
      shared_.owners,
      {},
      nullptr,
      [&](value_id v) { return plan.varies(v); },
      [&](node_id inner) { return plan.is_in_lanes(inner); }};
  lanes_context context{plan, {f_, order_, rules, body}, block};
  lanes_ = &context;
  bool const defers = plan.defers_in(body);
  if (defers) {
    (void)out_.label(); // where a block restarts
    out_.emit(&doing<begin_adds>::run);
  }
  lower_block_in_lanes(body, outputs);
  if (defers) out_.emit(&doing<finish_adds>::run);
  lanes_ = nullptr;
  std::uint32_t const done = out_.emit(&jump::run);
  out_.land(decide);
  lower_block_one_by_one(body, block, outputs);
  out_.land(done);
  std::uint32_t const following = out_.emit(&deciding<next_block>::run, block, count);
  out_[following].c = emitter::displacement(following, begin);
  out_.land(start);

  set_rows(bind, context);
  out_.emit(&release_owner::run, 0, memory + word_size);
  words_.free(memory, 3);
  words_.free(block, block_words::size);
  for (block_output const& o : outputs) {
    if (o.row == no_word && o.place != no_word) words_.free(o.place, 1);
    if (o.reduce == ir::nothing) continue;
    words_.free(o.array, 3);
    fused_maps_.push_back({o.reduce, o.state});
  }
}

inline void lane_lowering::lower_block_in_lanes(region_id body, std::vector<block_output>& outputs) {
  offset const block = lanes_->block, first = block + block_words::first;
  for (block_output& o : outputs) {
    ir::type const t = type_of(o.yielded);
    if (t.rank > 0) continue;
    if (o.reduce != ir::nothing || t == ir::boolean) {
      o.row = take_row();
      o.place = pointer_to(o.row);
    } else {
      o.place = words_.allocate(1);
      out_.emit(&doing<lane_output>::run, o.place, o.array, first, scalar_bytes(t));
    }
  }
  value_id const i = lanes_->plan.index();
  make_strided(i, first, block + block_words::one);
  live_in(i, body);
  node_id const product =
      outputs.size() == 1 ? product_to_sum(body, outputs[0].reduce, true) : node_id(ir::nothing);
  if (product == ir::nothing) {
    std::vector<offset> places;
    for (block_output const& o : outputs) places.push_back(is_lanes(o.yielded) ? o.place : no_word);
    hint_results(body, places, {});
  }
  lower_region(body, product);
  if (product != ir::nothing) {
    out_.emit(
        &doing<block_sum_products>::run, outputs[0].state, at(f_.operand(product, 0)),
        at(f_.operand(product, 1)));
    finish(product);
  } else
    for (block_output const& o : outputs) store_block(o, first);
  finish(f_.yield_of(body));
}

// Stores the results of a block.
inline void lane_lowering::store_block(block_output const& o, offset first) {
  ir::type const t = type_of(o.yielded);
  if (t.rank > 0) return store_rows_of_lanes(o.yielded, o.array, first);
  offset place = o.place;
  if (!is_lanes(o.yielded))
    emit_fill(o.yielded, place);
  else if (t == ir::boolean)
    place = at(o.yielded);
  else if (at(o.yielded) != place)
    out_.emit(&doing<lane_copy>::run, place, at(o.yielded), 0, lane_size_of(t.element));
  if (o.reduce != ir::nothing)
    reduce_block(o);
  else if (t == ir::boolean)
    out_.emit(&doing<lane_store_bools>::run, o.array, place, first);
}

inline void lane_lowering::lower_block_one_by_one(
    region_id body, offset block, std::vector<block_output> const& outputs) {
  offset const first = block + block_words::first;
  node_id const last = f_.yield_of(body);
  for (block_output const& o : outputs)
    if (o.reduce != ir::nothing) out_.emit(&doing<lane_window>::run, o.array, o.place, first, word_size);
  value_id const i = f_.argument(body, 0);
  offset const index = words_.allocate(1);
  assign_slot(i, index);
  emit_move({first, index, 1});
  std::uint32_t const element = out_.label();
  live_in(i, body);
  lower_region(body, ir::nothing);
  for (block_output const& o : outputs) store_output(o.yielded, index, o.array);
  finish(last);
  std::uint32_t const next = out_.emit(&next_loop::run, index, block + block_words::end);
  out_[next].c = emitter::displacement(next, element);
  words_.free(index, 1);
  bool const reduces = std::any_of(
      outputs.begin(), outputs.end(), [](block_output const& o) { return o.reduce != ir::nothing; });
  if (reduces) out_.emit(&doing<count_block>::run, block);
  for (block_output const& o : outputs)
    if (o.reduce != ir::nothing) reduce_block(o);
}

// Patches the instruction that allocates rows of lanes, and sets the pointers to them, once their number is known.
inline void lane_lowering::set_rows(std::uint32_t bind, lanes_context const& context) {
  for (offset const step : context.steps) words_.free(step, 1);
  std::vector<offset> pointers;
  for (std::size_t row = 0; row < context.pointers.size(); ++row)
    if (context.pointers[row] != no_word) {
      pointers.push_back(context.pointers[row]);
      pointers.push_back(static_cast<offset>(row));
      words_.free(context.pointers[row], 1);
    }
  out_[bind].a = out_.list(pointers);
  out_[bind].b = static_cast<offset>(pointers.size() / 2);
  out_[bind].c = context.rows.bytes() / word_size;
}

// A limit as an operand of an instruction.
inline offset lane_lowering::as_operand(i64 limit) {
  return static_cast<offset>(std::clamp<i64>(limit, 0, std::numeric_limits<std::int32_t>::max()));
}

// Maps over rows that are too long for lanes are detected before they begin.
inline void lane_lowering::limit_rows_in(region_id r, lane_plan const& plan, offset block, offset longest) {
  for (node_id const n : f_.nodes_of(r)) {
    for (region_id const inner : f_.regions_of(n)) limit_rows_in(inner, plan, block, longest);
    if (f_[n].code != ir::op::at || type_of(f_.result(n)).rank == 0 || !plan.varies(f_.result(n))) continue;
    value_id const array = f_.operand(n, 0);
    if (plan.is_outside(array) && !plan.varies(array))
      out_.emit(&doing<limit_rows>::run, block, at(array), offset{type_of(array).rank}, longest);
  }
}

inline void lane_lowering::reduce_block(block_output const& o) {
  auto const code = number(f_[o.reduce].attributes.operation);
  out_.emit(
      type_of(o.yielded) == ir::f64 ? &doing<block_reduce<double>>::run : &doing<block_reduce<i64>>::run,
      o.state, o.place, 0, code);
}

inline void lane_lowering::store_rows_of_lanes(value_id v, offset array, offset first) {
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
