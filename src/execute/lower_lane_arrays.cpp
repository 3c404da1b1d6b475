#include <overdub/execute/values.hpp>
#include <overdub/implementation/execute/add_handlers.hpp>
#include <overdub/implementation/execute/block_handlers.hpp>
#include <overdub/implementation/execute/lane_values.hpp>
#include <overdub/implementation/execute/lower_arrays.hpp>
#include <overdub/implementation/execute/lower_lane_arrays.hpp>
#include <overdub/implementation/ir/operands.hpp>

namespace overdub::execute {
namespace {

// Lowers reads of elements or parts of a uniform array.
void at_in_uniform_array(function_lowering& fn, node_id n) {
  value_id const array = fn.f.operand(n, 0), result = fn.f.result(n), index = fn.f.operand(n, 1);
  ir::type const t = fn.type_of(array);
  std::uint32_t const indices = ir::index_count(fn.f, n);
  if (t.rank == 1 && indices == 1 && fn.lanes->plan.is_strided(index)) {
    frame_slot const& i = fn.slots[index];
    bool const is_row = i.step == fn.lanes->block + block_words::one && t.element != ir::scalar::boolean;
    if (is_row)
      new_alias(fn, result, array, n);
    else
      (void)new_lanes(fn, result);
    with_type(t.element, [&]<class T>(T) {
      fn.out.emit(
          is_row ? &trying<lane_at<T>>::run : &trying<lane_at_strided<T>>::run, fn.at(result), fn.at(array),
          i.first, i.step);
    });
    return;
  }
  bool const is_part = fn.type_of(result).rank > 0;
  offset const list = fn.out.list(indices_of_lanes(fn, n, indices));
  offset const to = is_part ? fn.slots.assign_new(result) : new_lanes(fn, result);
  with_type(t.element, [&]<class T>(T) {
    fn.out.emit(is_part ? &trying<lane_parts<T>>::run : &trying<lane_gather<T>>::run, to, list, indices);
  });
}

void at_in_array_of_lanes(function_lowering& fn, node_id n) {
  value_id const array = fn.f.operand(n, 0), result = fn.f.result(n);
  ir::type const t = fn.type_of(array);
  std::uint32_t const indices = ir::index_count(fn.f, n);
  bool vary = false;
  for (std::uint32_t i = 1; i <= indices; ++i) vary = vary || fn.is_lanes(fn.f.operand(n, i));
  if (vary) {
    offset const list = fn.out.list(indices_of_lanes(fn, n, indices));
    offset const to = new_lanes(fn, result);
    with_type(t.element, [&]<class T>(T) { fn.out.emit(&trying<lane_pick<T>>::run, to, list); });
    return;
  }
  auto const list = indexed(fn, n, indices);
  if (fn.type_of(result).rank > 0) {
    offset const to = fn.slots.assign_new(result);
    fn.out.emit(&doing<part_of>::run, to, fn.out.list(list), 0, row_size_of(t.element));
    return retain_part(fn, n);
  }
  new_alias(fn, result, array, n);
  fn.out.emit(&doing<lane_element>::run, fn.at(result), fn.out.list(list), 0, row_size_of(t.element));
}

} // namespace

void lower_at_in_lanes(function_lowering& fn, node_id n) {
  fn.is_lanes(fn.f.operand(n, 0)) ? at_in_array_of_lanes(fn, n) : at_in_uniform_array(fn, n);
}

void lower_update_in_lanes(function_lowering& fn, node_id n) {
  value_id const array = fn.f.operand(n, 0), result = fn.f.result(n);
  ir::type const t = fn.type_of(array);
  std::uint32_t const indices = ir::index_count(fn.f, n);
  value_id const x = fn.f.operand(n, indices + 1);
  bool vary = false;
  for (std::uint32_t i = 1; i <= indices; ++i) vary = vary || fn.is_lanes(fn.f.operand(n, i));
  offset const value = fn.type_of(x).rank > 0 ? array_of_lanes(fn, x) : lanes_of(fn, x);
  if (fn.is_lanes(array))
    reuse_array(fn, n);
  else
    emit_broadcast(fn, array, fn.slots.assign_new(result));
  if (vary) {
    std::vector<offset> list = indices_of_lanes(fn, n, indices);
    list[0] = fn.at(result);
    with_type(t.element, [&]<class T>(T) {
      fn.out.emit(&trying<lane_scatter<T>>::run, 0, fn.out.list(list), value);
    });
    return;
  }
  auto list = indexed(fn, n, indices);
  list[0] = fn.at(result);
  list.push_back(value);
  fn.out.emit(
      fn.type_of(x).rank > 0 ? &doing<lane_update_part>::run : &doing<lane_update>::run, 0, fn.out.list(list),
      0, row_size_of(t.element));
}

void lower_new_array_in_lanes(function_lowering& fn, node_id n) {
  value_id const result = fn.f.result(n);
  ir::type const t = fn.type_of(result);
  offset const shape = rank_and_size(t.rank, row_size_of(t.element)), lane = lane_size_of(t.element);
  switch (fn.f[n].code) {
  case ir::op::array:
  case ir::op::concat: {
    bool const of_scalars = fn.type_of(fn.f.operand(n, 0)).rank == 0;
    std::vector<offset> list;
    for (value_id const v : fn.f.operands_of(n))
      list.push_back(of_scalars ? lanes_of(fn, v) : array_of_lanes(fn, v));
    offset const to = fn.slots.assign_new(result);
    handler const run = fn.f[n].code == ir::op::concat ? &doing<concat>::run
                        : of_scalars                   ? &doing<lane_array>::run
                                                       : &doing<make_of_values>::run;
    fn.out.emit(run, to, fn.out.list(list), fn.f[n].operand_count, of_scalars ? lane : shape);
    return;
  }
  case ir::op::fill: {
    value_id const x = fn.f.operand(n, 1);
    bool const of_scalars = fn.type_of(x).rank == 0;
    offset const value = of_scalars ? lanes_of(fn, x) : array_of_lanes(fn, x);
    offset const to = fn.slots.assign_new(result);
    fn.out.emit(
        of_scalars ? &doing<lane_fill_array>::run : &doing<fill>::run, to, fn.at(fn.f.operand(n, 0)), value,
        of_scalars ? lane : shape);
    return;
  }
  case ir::op::gather: {
    offset const to = fn.slots.assign_new(result);
    fn.out.emit(&doing<gather>::run, to, fn.at(fn.f.operand(n, 0)), fn.at(fn.f.operand(n, 1)), shape);
    return;
  }
  case ir::op::slice: {
    value_id const array = fn.f.operand(n, 0);
    offset const list[] = {
        fn.at(array), fn.at(fn.f.operand(n, 1)), fn.at(fn.f.operand(n, 2)), offset{fn.type_of(array).rank}};
    offset const to = fn.slots.assign_new(result);
    fn.out.emit(&doing<slice_of>::run, to, fn.out.list(list), 0, row_size_of(t.element));
    return retain_part(fn, n);
  }
  default:
    reuse_array(fn, n); // copy
  }
}

void lower_add_to_in_lanes(function_lowering& fn, node_id n) {
  value_id const acc = fn.f.operand(n, 0);
  ir::type const t = fn.type_of(acc);
  std::uint32_t const indices = ir::index_count(fn.f, n);
  value_id const x = fn.f.operand(n, indices + 1);
  bool const is_part = fn.type_of(x).rank > 0;
  offset const value = is_part ? array_of_lanes(fn, x) : lanes_of(fn, x);
  bool vary = !fn.is_lanes(acc) || fn.lanes->mask != no_word;
  for (std::uint32_t i = 1; i <= indices; ++i) vary = vary || fn.is_lanes(fn.f.operand(n, i));
  offset const mask = fn.lanes->mask == no_word ? 0 : fn.lanes->mask;
  auto const adding = fn.lanes->plan.adding(acc);
  with_type(t.element, [&]<class T>(T) {
    if constexpr (!std::is_same_v<T, bool>)
      if (adding == lane_plan::adds::by_cell || adding == lane_plan::adds::by_lane) {
        std::vector<offset> list = indices_of_lanes(fn, n, indices);
        list.insert(list.begin() + 2, {indices, offset{is_part}, fn.lanes->block});
        list.push_back(mask);
        fn.out.emit(
            adding == lane_plan::adds::by_cell ? &lane_defer<T, true>::run : &lane_defer<T, false>::run, 0,
            fn.out.list(list), value);
        return;
      }
    if constexpr (std::is_same_v<T, bool>)
      return;
    else if (!vary) {
      auto list = indexed(fn, n, indices);
      list.push_back(value);
      fn.out.emit(&doing<lane_add_row<T>>::run, 0, fn.out.list(list));
    } else {
      std::vector<offset> list = indices_of_lanes(fn, n, indices);
      list.push_back(mask);
      if (is_part)
        fn.out.emit(&trying<lane_add_parts<T>>::run, 0, fn.out.list(list), value, indices);
      else
        fn.out.emit(&trying<lane_add<T>>::run, 0, fn.out.list(list), value, fn.is_lanes(acc));
    }
  });
}

void emit_add_early(function_lowering& fn, region_id body) {
  if (fn.lanes->depth == 1 && fn.lanes->plan.defers_in(body))
    fn.out.emit(&doing<add_early>::run, 0, fn.lanes->block);
}

} // namespace overdub::execute
