#include <overdub/execute/values.hpp>
#include <overdub/implementation/execute/array_handlers.hpp>
#include <overdub/implementation/execute/block_handlers.hpp>
#include <overdub/implementation/execute/lane_values.hpp>
#include <overdub/implementation/execute/yields.hpp>
#include <overdub/implementation/ir/ancestor.hpp>

#include <utility>

namespace overdub::execute {

offset new_lanes(function_lowering& fn, value_id v) {
  if (offset const hint = fn.slots.take_hint(v); hint != no_word) {
    fn.slots.assign(v, hint);
    return hint;
  }
  offset const row = fn.lanes->rows.take();
  fn.slots.assign(v, {.at = fn.lanes->rows.pointer_to(row), .row = row});
  return fn.at(v);
}

void new_alias(function_lowering& fn, value_id v, value_id array, node_id n) {
  (void)fn.slots.take_hint(v);
  frame_slot slot{.at = fn.slots.allocate(1), .owns_words = true};
  fn.slots.assign(v, slot);
  if (fn.lanes->plan.is_outside(array)) return;
  region_id const of_array = fn.f.region_of(array);
  node_id const ancestor = ir::ancestor_in(fn.f, n, of_array);
  node_id const array_last_use = fn.order.last_use_in(array, of_array);
  node_id const pointer_last_use = fn.order.last_use_in(v, fn.f[n].parent);
  bool const outlives =
      ancestor != n ? array_last_use == ancestor || fn.order.is_before(ancestor, array_last_use)
                    : pointer_last_use == ir::nothing || fn.order.is_before(pointer_last_use, array_last_use);
  if (outlives) return;
  slot.owner = fn.slots.allocate(1);
  fn.slots.assign(v, slot);
  emit_move(fn, {fn.slots.owner_word(array), slot.owner, 1});
  fn.out.emit(&retain_owner::run, 0, slot.owner);
}

void make_strided(function_lowering& fn, value_id v, offset first, offset step) {
  frame_slot slot;
  if (fn.lanes->plan.needs_lanes(v)) {
    fn.out.emit(&doing<lane_indices>::run, new_lanes(fn, v), first, step);
    slot = fn.slots[v];
  }
  slot.first = first;
  slot.step = step;
  fn.slots.assign(v, slot);
}

offset lanes_of(function_lowering& fn, value_id v) {
  if (fn.is_lanes(v)) return fn.at(v);
  offset const to = fn.lanes->rows.temporary();
  emit_fill(fn, v, to);
  return to;
}

offset array_of_lanes(function_lowering& fn, value_id v) {
  if (fn.is_lanes(v)) return fn.at(v);
  offset const to = fn.slots.allocate(fn.slots.words_of(v));
  fn.lanes->broadcasts.push_back({to, fn.slots.words_of(v)});
  emit_broadcast(fn, v, to);
  return to;
}

void emit_fill(function_lowering& fn, value_id scalar, offset to) {
  ir::type const t = fn.type_of(scalar);
  fn.out.emit(&doing<lane_fill>::run, to, fn.at(scalar), 0, t == ir::boolean ? 1 : lane_size_of(t.element));
}

void emit_broadcast(function_lowering& fn, value_id array, offset to) {
  with_type(fn.type_of(array).element, [&]<class T>(T) {
    fn.out.emit(&doing<lane_broadcast<T>>::run, to, fn.at(array), 0, offset{fn.type_of(array).rank});
  });
}

std::vector<offset> indices_of_lanes(function_lowering const& fn, node_id n, std::uint32_t count) {
  value_id const array = fn.f.operand(n, 0);
  std::vector<offset> list{fn.at(array), offset{fn.type_of(array).rank}};
  for (std::uint32_t i = 1; i <= count; ++i) {
    value_id const v = fn.f.operand(n, i);
    frame_slot const& h = fn.slots[v];
    auto const how = !fn.is_lanes(v)                ? indexed_by::uniform
                     : fn.lanes->plan.is_strided(v) ? indexed_by::strided
                                                    : indexed_by::varying;
    list.push_back(static_cast<offset>(how));
    list.push_back(how == indexed_by::strided ? h.first : h.at);
    list.push_back(how == indexed_by::strided ? h.step : 0);
  }
  return list;
}

void end_lanes(function_lowering& fn, node_id n) {
  offset const size = lane_size_of(fn.type_of(fn.f.result(n)).element);
  for (value_id const v : fn.f.operands_of(n))
    if (fn.is_lanes(v) && lane_size_of(fn.type_of(v).element) != size) return;
  end_scalars(fn, n);
}

void release_temporaries(function_lowering& fn) {
  fn.lanes->rows.free_temporary();
  for (auto const& [where, size] : std::exchange(fn.lanes->broadcasts, {})) {
    fn.out.emit(&release_owner::run, 0, where + word_size);
    fn.slots.free(where, size);
  }
}

} // namespace overdub::execute
