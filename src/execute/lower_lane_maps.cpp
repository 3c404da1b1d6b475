#include <overdub/implementation/execute/array_handlers.hpp>
#include <overdub/implementation/execute/block_reduce_handlers.hpp>
#include <overdub/implementation/execute/control_handlers.hpp>
#include <overdub/implementation/execute/lane_values.hpp>
#include <overdub/implementation/execute/lane_yields.hpp>
#include <overdub/implementation/execute/lower_lane_arrays.hpp>
#include <overdub/implementation/execute/lower_lane_maps.hpp>
#include <overdub/implementation/execute/yields.hpp>

#include <algorithm>
#include <utility>

namespace overdub::execute {

void lower_map_in_lanes(function_lowering& fn, node_id n) {
  region_id const body = fn.f.region_at(n, 0);
  offset const count = fn.at(fn.f.operand(n, 0));
  value_list outputs;
  std::vector<offset> arrays;
  std::vector<offset> places;
  for (value_id const v : fn.f.results_of(n)) outputs.push_back(v);
  places = new_places(fn, outputs);
  // A result whose only use is a sum is added up while it is computed.
  std::vector<fused_map> sums(outputs.size(), fused_map{ir::nothing, no_word});
  std::vector<offset> more(outputs.size(), no_word);
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    node_id const reduce = fn.lanes->plan.reduction_of(outputs[k]);
    if (reduce == ir::nothing) {
      arrays.push_back(new_output(fn, outputs[k], count, &doing<make_mapped>::run));
      continue;
    }
    offset const rows = fn.lanes->rows.take(8);
    (void)fn.lanes->rows.pointer_to(rows + 7);
    sums[k] = {reduce, fn.lanes->rows.pointer_to(rows), rows, fn.slots.allocate(1)};
    emit_move(fn, {count, sums[k].count, 1});
    fn.slots.assign(outputs[k], no_word);
    arrays.push_back(no_word);
    more[k] = fn.lanes->rows.take();
  }
  bool const checks = std::any_of(arrays.begin(), arrays.end(), [](offset a) { return a != no_word; });
  if (!checks) fn.out.emit(&doing<check_count>::run, 0, count);
  node_id const product = fn.lanes->plan.summed_product(n);

  value_id const i = fn.f.argument(body, 0);
  offset const index = fn.slots.allocate(1);
  fn.slots.assign(i, index);
  std::uint32_t const start = fn.out.emit(&start_loop::run, index, count);
  std::uint32_t const begin = fn.out.label();
  fn.lanes->last = {};
  place_outputs(fn, outputs, arrays, places, index);
  for (std::size_t k = 0; k < outputs.size(); ++k)
    if (sums[k].reduce != ir::nothing && product == ir::nothing)
      fn.out.emit(
          &doing<lane_sum_destination>::run, places[k], sums[k].state, index,
          fn.lanes->rows.pointer_to(more[k]));
  node_id const last = fn.f.yield_of(body);
  if (product == ir::nothing) hint_results(fn, body, fitting_places(fn, body, places, outputs), {});
  ++fn.lanes->depth;
  lower_region(fn, body, product);
  if (product != ir::nothing) {
    value_id a = fn.f.operand(product, 0), b = fn.f.operand(product, 1);
    if (!fn.is_lanes(a)) std::swap(a, b);
    fn.out.emit(
        fn.is_lanes(b) ? &lane_sum_product<lane_kind::in_lanes>::run
                       : &lane_sum_product<lane_kind::uniform>::run,
        sums[0].state, fn.at(a), fn.at(b), index);
    finish(fn, product);
  } else
    for (std::uint32_t k = 0; k < outputs.size(); ++k) {
      store_lanes(fn, fn.f.operand(last, k), outputs[k], index, arrays[k], places[k]);
      if (sums[k].reduce != ir::nothing) fn.out.emit(&lane_sum_step::run, sums[k].state, places[k], index);
    }
  release_temporaries(fn);
  emit_add_early(fn, body);
  --fn.lanes->depth;
  finish(fn, last);
  std::uint32_t const next = fn.out.emit(&next_loop::run, index, count);
  fn.out[next].c = emitter::displacement(next, begin);
  fn.out.land(start);
  fn.lanes->last = {};
  fn.slots.free(index, 1);
  free_places(fn, places);
  for (std::size_t k = 0; k < outputs.size(); ++k)
    if (sums[k].reduce != ir::nothing) {
      fn.lanes->rows.free(more[k]);
      fn.fused_maps.push_back(sums[k]);
    }
}

void lower_reduce_in_lanes(function_lowering& fn, node_id n) {
  value_id const array = fn.f.operand(n, 0), result = fn.f.result(n);
  bool const started = fn.f[n].attributes.is_started();
  if (auto const map = take_fused_map(fn, n)) {
    offset const initial = started ? fn.at(fn.f.operand(n, 1)) : 0;
    offset const to = new_lanes(fn, result);
    handler const fold = !started ? &doing<lane_sum_fold>::run
                         : fn.is_lanes(fn.f.operand(n, 1))
                             ? &doing<lane_sum_fold_from<lane_kind::in_lanes>>::run
                             : &doing<lane_sum_fold_from<lane_kind::uniform>>::run;
    fn.out.emit(fold, to, map->state, map->count, initial);
    fn.lanes->rows.free(map->row, 8);
    return fn.slots.free(map->count, 1);
  }
  offset const initial = started ? lanes_of(fn, fn.f.operand(n, 1)) : 0;
  offset const from = array_of_lanes(fn, array);
  offset const to = new_lanes(fn, result);
  with_type(fn.type_of(result).element, [&]<class T>(T) {
    if constexpr (!std::is_same_v<T, bool>)
      fn.out.emit(&doing<lane_reduce<T>>::run, to, from, initial, fn.number(fn.f[n].attributes.operation));
  });
}

} // namespace overdub::execute
