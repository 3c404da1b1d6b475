#include <overdub/implementation/execute/array_handlers.hpp>
#include <overdub/implementation/execute/block_reduce_handlers.hpp>
#include <overdub/implementation/execute/control_handlers.hpp>
#include <overdub/implementation/execute/lower_arrays.hpp>
#include <overdub/implementation/execute/lower_reductions.hpp>
#include <overdub/implementation/execute/reduce_handlers.hpp>
#include <overdub/implementation/execute/yields.hpp>

namespace overdub::execute {
namespace {

void lower_reduce_by_region(function_lowering& fn, node_id n) {
  region_id const region = fn.f.region_at(n, 0);
  bool const started = fn.f[n].attributes.is_started(), in_lanes = fn.f[n].attributes.is_in_lanes();
  std::uint32_t const count = fn.f[n].result_count;
  value_list arrays;
  offset words_each = 0;
  for (std::uint32_t k = 0; k < count; ++k) {
    arrays.push_back(fn.f.operand(n, k));
    words_each += fn.slots.words_of(fn.f.result(n, k));
  }
  offset const size = reduction::size(words_each);
  offset const state = fn.slots.allocate(size);
  // The offset of the k-th component of a value: the current one, left, right, the initial one.
  auto const component = [&](offset which, std::uint32_t k) {
    offset where = reduction::value_at(state, words_each, which);
    for (std::uint32_t i = 0; i < k; ++i) where += fn.slots.words_of(fn.f.result(n, i)) * word_size;
    return where;
  };
  std::vector<word_move> moves;
  for (std::uint32_t k = 0; started && k < count; ++k) {
    value_id const v = fn.f.operand(n, count + k);
    retain_consumed(fn, n, count + k);
    moves.push_back({fn.at(v), component(reduction::initial, k), fn.slots.words_of(v)});
  }
  emit_moves(fn, std::move(moves));
  offset const length = common_length_of(fn, arrays, "reduce");
  offset const flags = words_and_start(words_each, started);
  std::uint32_t const start = fn.out.emit(&deciding<start_reduction>::run, state, flags, length);

  std::uint32_t const fetch = fn.out.label();
  offset const index = state + reduction::index * word_size;
  std::vector<offset> current;
  for (std::uint32_t k = 0; k < count; ++k) {
    current.push_back(component(reduction::current, k));
    ir::type const t = fn.type_of(arrays[k]);
    if (t.rank == 1)
      fn.out.plain_load(t.element, fn.at(arrays[k]), index, current[k]);
    else {
      offset const list[] = {fn.at(arrays[k]), offset{t.rank}, 1, index};
      fn.out.emit(&doing<part_of>::run, current[k], fn.out.list(list), 0, scalar_bytes(t));
      fn.out.emit(&retain_owner::run, 0, current[k] + word_size);
    }
  }
  std::uint32_t const next =
      fn.out.emit(in_lanes ? &deciding<next_in_lanes>::run : &deciding<next_in_tree>::run, state, flags);
  fn.out[next].b = emitter::displacement(next, fetch);
  std::uint32_t const over = fn.out.emit(&jump::run);

  std::uint32_t const combine = fn.out.label();
  fn.out[next].c = emitter::displacement(next, combine);
  for (std::uint32_t k = 0; k < count; ++k) {
    fn.slots.assign(fn.f.argument(region, k), component(reduction::left, k));
    fn.slots.assign(fn.f.argument(region, count + k), component(reduction::right, k));
  }
  hint_results(fn, region, current, {});
  lower_region(fn, region);
  yield_to(fn, region, current);
  finish(fn, fn.f.yield_of(region), current);
  std::uint32_t const again = fn.out.emit(&jump::run);
  fn.out[again].c = emitter::displacement(again, next);

  fn.out.land(over);
  fn.out.land(start);
  if (arrays.size() > 1) fn.slots.free(length, 1);
  std::vector<word_move> results;
  for (std::uint32_t k = 0; k < count; ++k)
    results.push_back(
        {current[k], fn.slots.assign_new(fn.f.result(n, k)), fn.slots.words_of(fn.f.result(n, k))});
  emit_moves(fn, std::move(results));
  fn.slots.free(state, size);
}

} // namespace

void lower_reduce(function_lowering& fn, node_id n) {
  if (fn.f[n].attributes.operation == ir::op::none) return lower_reduce_by_region(fn, n);
  value_id const array = fn.f.operand(n, 0), result = fn.f.result(n);
  offset const initial = fn.f[n].attributes.is_started() ? fn.at(fn.f.operand(n, 1)) : 0;
  offset const where = fn.slots.assign_new(result);
  if (auto const map = take_fused_map(fn, n)) {
    bool const is_double = fn.type_of(result) == ir::f64;
    fn.out.emit(
        is_double ? &doing<finish_block_reduction<double>>::run : &doing<finish_block_reduction<i64>>::run,
        where, map->state, initial, fn.number(fn.f[n].attributes.operation));
    return fn.slots.free(map->state, block_reduction::size);
  }
  auto const& handlers = fn.f[n].attributes.is_in_order() ? reduce_in_order_handlers : reduce_handlers;
  fn.out.emit(
      handlers[type_index(fn.type_of(array).element)], where, fn.at(array), initial,
      fn.number(fn.f[n].attributes.operation));
}

} // namespace overdub::execute
