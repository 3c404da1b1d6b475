#include <overdub/implementation/execute/array_handlers.hpp>
#include <overdub/implementation/execute/block_handlers.hpp>
#include <overdub/implementation/execute/lane_values.hpp>
#include <overdub/implementation/execute/lane_yields.hpp>
#include <overdub/implementation/execute/yields.hpp>

#include <utility>

namespace overdub::execute {

std::vector<offset> new_results(function_lowering& fn, std::span<value_id const> all) {
  std::vector<offset> where;
  for (value_id const v : all)
    where.push_back(fn.is_lanes(v) && fn.type_of(v).rank == 0 ? new_lanes(fn, v) : fn.slots.assign_new(v));
  return where;
}

std::vector<offset>
start_loop_carried_lanes(function_lowering& fn, node_id n, std::uint32_t first_operand, std::uint32_t count) {
  value_list results;
  for (std::uint32_t k = 0; k < count; ++k) results.push_back(fn.f.result(n, k));
  std::vector<offset> const to = new_results(fn, results);
  std::vector<word_move> moves;
  for (std::uint32_t k = 0; k < count; ++k) {
    value_id const v = fn.f.operand(n, first_operand + k);
    if (fn.is_lanes(results[k]) && !fn.is_lanes(v)) {
      fn.type_of(v).rank == 0 ? emit_fill(fn, v, to[k]) : emit_broadcast(fn, v, to[k]);
      continue;
    }
    retain_consumed(fn, n, first_operand + k);
    bool const lanes = fn.is_lanes(v) && fn.type_of(v).rank == 0;
    moves.push_back({fn.at(v), to[k], fn.slots.words_of(v), lanes ? lane_size_of(fn.type_of(v).element) : 0});
  }
  emit_moves(fn, std::move(moves));
  return to;
}

void yield_lanes(
    function_lowering& fn, region_id r, std::span<offset const> to, std::span<value_id const> results) {
  node_id const last = fn.f.yield_of(r);
  std::vector<word_move> moves;
  std::vector<std::pair<offset, offset>> aside; // arrays that are broadcast to arrays of lanes
  for (std::size_t k = 0; k < results.size(); ++k) {
    value_id const v = fn.f.operand(last, static_cast<std::uint32_t>(k));
    bool const is_scalar = fn.type_of(v).rank == 0;
    if (fn.is_lanes(results[k]) && is_scalar)
      moves.push_back({lanes_of(fn, v), to[k], 1, lane_size_of(fn.type_of(v).element)});
    else if (!fn.is_lanes(results[k]) || fn.is_lanes(v)) {
      retain_consumed(fn, last, static_cast<std::uint32_t>(k));
      moves.push_back({fn.at(v), to[k], fn.slots.words_of(v)});
    } else {
      offset const to_lanes = fn.slots.allocate(fn.slots.words_of(v));
      emit_broadcast(fn, v, to_lanes);
      moves.push_back({to_lanes, to[k], fn.slots.words_of(v)});
      aside.push_back({to_lanes, fn.slots.words_of(v)});
    }
  }
  release_overwritten(fn, last, to);
  emit_moves(fn, std::move(moves), std::move(aside));
}

std::vector<offset> fitting_places(
    function_lowering const& fn, region_id r, std::span<offset const> to, std::span<value_id const> results) {
  std::vector<offset> places;
  for (std::size_t k = 0; k < to.size(); ++k) {
    value_id const v = fn.f.operand(fn.f.yield_of(r), static_cast<std::uint32_t>(k));
    places.push_back(fn.is_lanes(v) == fn.is_lanes(results[k]) ? to[k] : no_word);
  }
  return places;
}

offset new_output(function_lowering& fn, value_id v, offset count, handler make) {
  offset const where = fn.slots.assign_new(v);
  ir::type const t = fn.type_of(v);
  fn.out.emit(make, where, count, offset{t.rank}, fn.is_lanes(v) ? row_size_of(t.element) : scalar_bytes(t));
  return where;
}

std::vector<offset> new_places(function_lowering& fn, std::span<value_id const> results) {
  std::vector<offset> places;
  for (value_id const v : results)
    places.push_back(fn.is_lanes(v) && fn.type_of(v).rank == 1 ? fn.slots.allocate(1) : no_word);
  return places;
}

void place_outputs(
    function_lowering& fn, std::span<value_id const> results, std::span<offset const> arrays,
    std::span<offset const> places, offset index) {
  for (std::size_t k = 0; k < results.size(); ++k)
    if (places[k] != no_word && arrays[k] != no_word)
      fn.out.emit(
          &doing<lane_row>::run, places[k], arrays[k], index, row_size_of(fn.type_of(results[k]).element));
}

void store_lanes(
    function_lowering& fn, value_id v, value_id result, offset index, offset array, offset place) {
  ir::type const t = fn.type_of(v);
  if (!fn.is_lanes(result)) return store_output(fn, v, index, array);
  if (t.rank > 0) {
    offset const row = array_of_lanes(fn, v);
    fn.out.emit(
        &doing<store_row>::run, array, index, row, rank_and_size(offset{t.rank} + 1, row_size_of(t.element)));
  } else if (!fn.is_lanes(v))
    emit_fill(fn, v, place);
  else if (fn.at(v) != place)
    fn.out.emit(&doing<lane_copy>::run, place, fn.at(v), 0, lane_size_of(t.element));
}

void free_places(function_lowering& fn, std::span<offset const> places) {
  for (offset const p : places)
    if (p != no_word) fn.slots.free(p, 1);
}

} // namespace overdub::execute
