// Vectorised lowering: arrays, reductions, accumulators.
#pragma once

#include <overdub/implementation/execute/add_handlers.hpp>
#include <overdub/implementation/execute/block_reduce_handlers.hpp>
#include <overdub/implementation/execute/lower_lanes.hpp>
#include <overdub/implementation/ir/operands.hpp>

#include <vector>

namespace overdub::execute {

// Lowers reads of elements or parts of a uniform array.
inline void lane_lowering::lane_at_uniform(node_id n) {
  value_id const array = f_.operand(n, 0), result = f_.result(n), index = f_.operand(n, 1);
  ir::type const t = type_of(array);
  std::uint32_t const indices = ir::index_count(f_, n);
  if (t.rank == 1 && indices == 1 && lanes_->plan.is_strided(index)) {
    slot const& i = slots_[index_of(index)];
    bool const is_row = i.step == lanes_->block + block_words::one && t.element != ir::scalar::boolean;
    if (is_row)
      new_alias(result, array, n);
    else
      (void)new_lanes(result);
    with_type(t.element, [&]<class T>(T) {
      out_.emit(
          is_row ? &trying<lane_at<T>>::run : &trying<lane_at_strided<T>>::run, at(result), at(array),
          i.first, i.step);
    });
    return;
  }
  bool const is_part = type_of(result).rank > 0;
  offset const list = out_.list(indices_of_lanes(n, indices));
  offset const to = is_part ? new_slot(result) : new_lanes(result);
  with_type(t.element, [&]<class T>(T) {
    out_.emit(is_part ? &trying<lane_parts<T>>::run : &trying<lane_gather<T>>::run, to, list, indices);
  });
}

inline void lane_lowering::lane_at_lanes(node_id n) {
  value_id const array = f_.operand(n, 0), result = f_.result(n);
  ir::type const t = type_of(array);
  std::uint32_t const indices = ir::index_count(f_, n);
  bool vary = false;
  for (std::uint32_t i = 1; i <= indices; ++i) vary = vary || is_lanes(f_.operand(n, i));
  if (vary) {
    offset const list = out_.list(indices_of_lanes(n, indices));
    offset const to = new_lanes(result);
    with_type(t.element, [&]<class T>(T) { out_.emit(&trying<lane_pick<T>>::run, to, list); });
    return;
  }
  auto const list = indexed(n, indices);
  if (type_of(result).rank > 0) {
    offset const to = new_slot(result);
    out_.emit(&doing<part_of>::run, to, out_.list(list), 0, row_size_of(t.element));
    return retain_part(n);
  }
  new_alias(result, array, n);
  out_.emit(&doing<lane_element>::run, at(result), out_.list(list), 0, row_size_of(t.element));
}

inline void lane_lowering::lane_update_array(node_id n) {
  value_id const array = f_.operand(n, 0), result = f_.result(n);
  ir::type const t = type_of(array);
  std::uint32_t const indices = ir::index_count(f_, n);
  value_id const x = f_.operand(n, indices + 1);
  bool vary = false;
  for (std::uint32_t i = 1; i <= indices; ++i) vary = vary || is_lanes(f_.operand(n, i));
  offset const value = type_of(x).rank > 0 ? array_of_lanes(x) : lanes_of(x);
  if (is_lanes(array))
    reuse_array(n);
  else
    emit_broadcast(array, new_slot(result));
  if (vary) {
    std::vector<offset> list = indices_of_lanes(n, indices);
    list[0] = at(result);
    with_type(
        t.element, [&]<class T>(T) { out_.emit(&trying<lane_scatter<T>>::run, 0, out_.list(list), value); });
    return;
  }
  auto list = indexed(n, indices);
  list[0] = at(result);
  list.push_back(value);
  out_.emit(
      type_of(x).rank > 0 ? &doing<lane_update_part>::run : &doing<lane_update>::run, 0, out_.list(list), 0,
      row_size_of(t.element));
}

// Creates an array of lanes from others, or from scalars.
inline void lane_lowering::lane_make_array(node_id n) {
  value_id const result = f_.result(n);
  ir::type const t = type_of(result);
  offset const shape = rank_and_size(t.rank, row_size_of(t.element)), lane = lane_size_of(t.element);
  switch (f_[n].code) {
  case ir::op::array:
  case ir::op::concat: {
    bool const of_scalars = type_of(f_.operand(n, 0)).rank == 0;
    std::vector<offset> list;
    for (value_id const v : f_.operands_of(n)) list.push_back(of_scalars ? lanes_of(v) : array_of_lanes(v));
    offset const to = new_slot(result);
    handler const run = f_[n].code == ir::op::concat ? &doing<concat>::run
                        : of_scalars                 ? &doing<lane_array>::run
                                                     : &doing<make_of_values>::run;
    out_.emit(run, to, out_.list(list), f_[n].operand_count, of_scalars ? lane : shape);
    return;
  }
  case ir::op::fill: {
    value_id const x = f_.operand(n, 1);
    bool const of_scalars = type_of(x).rank == 0;
    offset const value = of_scalars ? lanes_of(x) : array_of_lanes(x);
    offset const to = new_slot(result);
    out_.emit(
        of_scalars ? &doing<lane_fill_array>::run : &doing<fill>::run, to, at(f_.operand(n, 0)), value,
        of_scalars ? lane : shape);
    return;
  }
  case ir::op::gather: {
    offset const to = new_slot(result);
    out_.emit(&doing<gather>::run, to, at(f_.operand(n, 0)), at(f_.operand(n, 1)), shape);
    return;
  }
  case ir::op::slice: {
    value_id const array = f_.operand(n, 0);
    offset const list[] = {
        at(array), at(f_.operand(n, 1)), at(f_.operand(n, 2)), offset{type_of(array).rank}};
    offset const to = new_slot(result);
    out_.emit(&doing<slice_of>::run, to, out_.list(list), 0, row_size_of(t.element));
    return retain_part(n);
  }
  default:
    reuse_array(n); // copy
  }
}

inline void lane_lowering::lane_reduction(node_id n) {
  value_id const array = f_.operand(n, 0), result = f_.result(n);
  bool const started = f_[n].attributes.is_started();
  if (is_fused(n)) {
    fused_map const map = take_fused_map(n);
    offset const initial = started ? at(f_.operand(n, 1)) : 0;
    offset const to = new_lanes(result);
    handler const fold = !started                     ? &doing<lane_sum_fold>::run
                         : is_lanes(f_.operand(n, 1)) ? &doing<lane_sum_fold_from<lane_kind::in_lanes>>::run
                                                      : &doing<lane_sum_fold_from<lane_kind::uniform>>::run;
    out_.emit(fold, to, map.state, map.count, initial);
    lanes_->rows.free(map.row * word_size, 8);
    return words_.free(map.count, 1);
  }
  offset const initial = started ? lanes_of(f_.operand(n, 1)) : 0;
  offset const from = array_of_lanes(array);
  offset const to = new_lanes(result);
  with_type(type_of(result).element, [&]<class T>(T) {
    if constexpr (!std::is_same_v<T, bool>)
      out_.emit(&doing<lane_reduce<T>>::run, to, from, initial, number(f_[n].attributes.operation));
  });
}

inline void lane_lowering::lane_accumulate(node_id n) {
  region_id const region = f_.region_at(n, 0);
  std::uint32_t const count = f_[n].operand_count;
  std::vector<offset> const to = start_loop_carried_lanes(n, 0, count);
  for (std::uint32_t k = 0; k < count; ++k) {
    value_id const v = f_.result(n, k);
    ir::type const t = type_of(v);
    out_.emit(
        &doing<own>::run, 0, to[k], offset{t.rank}, is_lanes(v) ? row_size_of(t.element) : scalar_bytes(t));
    assign_slot(f_.argument(region, k), to[k]);
  }
  values more;
  for (std::uint32_t k = count; k < f_[n].result_count; ++k) more.push_back(f_.result(n, k));
  std::vector<offset> const places = new_results(more);
  lower_region(region, ir::nothing);
  yield_lanes(region, places, more);
  finish(f_.yield_of(region), places);
}

inline void lane_lowering::lane_add_to(node_id n) {
  value_id const acc = f_.operand(n, 0);
  ir::type const t = type_of(acc);
  std::uint32_t const indices = ir::index_count(f_, n);
  value_id const x = f_.operand(n, indices + 1);
  bool const is_part = type_of(x).rank > 0;
  offset const value = is_part ? array_of_lanes(x) : lanes_of(x);
  bool vary = !is_lanes(acc) || lanes_->mask != no_word;
  for (std::uint32_t i = 1; i <= indices; ++i) vary = vary || is_lanes(f_.operand(n, i));
  offset const mask = lanes_->mask == no_word ? 0 : lanes_->mask;
  auto const adding = lanes_->plan.adding(acc);
  with_type(t.element, [&]<class T>(T) {
    if constexpr (!std::is_same_v<T, bool>)
      if (adding == lane_plan::adds::by_cell || adding == lane_plan::adds::by_lane) {
        std::vector<offset> list = indices_of_lanes(n, indices);
        list.insert(list.begin() + 2, {indices, offset{is_part}, lanes_->block});
        list.push_back(mask);
        out_.emit(
            adding == lane_plan::adds::by_cell ? &lane_defer<T, true>::run : &lane_defer<T, false>::run, 0,
            out_.list(list), value);
        return;
      }
    if constexpr (std::is_same_v<T, bool>)
      return;
    else if (!vary) {
      auto list = indexed(n, indices);
      list.push_back(value);
      out_.emit(&doing<lane_add_row<T>>::run, 0, out_.list(list));
    } else {
      std::vector<offset> list = indices_of_lanes(n, indices);
      list.push_back(mask);
      if (is_part)
        out_.emit(&trying<lane_add_parts<T>>::run, 0, out_.list(list), value, indices);
      else
        out_.emit(&trying<lane_add<T>>::run, 0, out_.list(list), value, is_lanes(acc));
    }
  });
}

// Applies deferred additions early, after an iteration of an outermost loop.
inline void lane_lowering::lane_add_early(region_id body) {
  if (lanes_->depth == 1 && lanes_->plan.defers_in(body)) out_.emit(&doing<add_early>::run, 0, lanes_->block);
}

} // namespace overdub::execute
