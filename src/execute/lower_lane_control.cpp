#include <overdub/implementation/execute/array_handlers.hpp>
#include <overdub/implementation/execute/block_handlers.hpp>
#include <overdub/implementation/execute/control_handlers.hpp>
#include <overdub/implementation/execute/lane_values.hpp>
#include <overdub/implementation/execute/lane_yields.hpp>
#include <overdub/implementation/execute/lower_lane_arrays.hpp>
#include <overdub/implementation/execute/lower_lane_control.hpp>
#include <overdub/implementation/execute/lower_lane_elementwise.hpp>
#include <overdub/implementation/execute/yields.hpp>

namespace overdub::execute {
namespace {

void uniform_if(function_lowering& fn, node_id n) {
  value_list results;
  for (value_id const v : fn.f.results_of(n)) results.push_back(v);
  std::vector<offset> const to = new_results(fn, results);
  value_id const mask = fn.f.operand(n, 0);
  std::uint32_t const to_else = fn.out.jump_if_false({mask, fn.at(mask), is_only_use(fn.f, mask, n)});
  std::uint32_t to_end = 0;
  for (region_id const r : fn.f.regions_of(n)) {
    bool const is_else = r != fn.f.region_at(n, 0);
    if (is_else) fn.out.land(to_else);
    fn.lanes->last = {};
    hint_results(fn, r, fitting_places(fn, r, to, results), {});
    lower_region(fn, r, ir::nothing);
    yield_lanes(fn, r, to, results);
    finish(fn, fn.f.yield_of(r), to);
    if (!is_else) to_end = fn.out.emit(&jump::run);
  }
  fn.out.land(to_end);
  fn.lanes->last = {};
}

// The mask of a branch that adds to accumulators: inactive lanes add nothing. Returns the rows of the mask.
std::vector<offset> branch_mask(function_lowering& fn, node_id n, bool is_else) {
  std::vector<offset> rows;
  if (!fn.lanes->plan.adds_in(fn.f.region_at(n, is_else ? 1 : 0))) return rows;
  offset mask = fn.at(fn.f.operand(n, 0));
  auto const combined = [&](ir::op code, offset other) {
    rows.push_back(fn.lanes->rows.take());
    offset const to = fn.lanes->rows.pointer_to(rows.back());
    emit_in_lanes(fn, code, ir::scalar::boolean, to, mask, other);
    mask = to;
  };
  if (is_else) combined(ir::op::logical_not, 0);
  if (fn.lanes->mask != no_word) combined(ir::op::logical_and, fn.lanes->mask);
  fn.lanes->mask = mask;
  return rows;
}

// If-conversion: both branches run for all lanes, unless no lane needs one; then each lane selects its result.
void divergent_if(function_lowering& fn, node_id n) {
  offset const mask = fn.at(fn.f.operand(n, 0)), outer = fn.lanes->mask;
  std::vector<offset> rows, to[2];
  value_list results;
  for (value_id const v : fn.f.results_of(n)) results.push_back(v);
  for (auto& branch : to)
    for (std::size_t k = 0; k < results.size(); ++k) {
      rows.push_back(fn.lanes->rows.take());
      branch.push_back(fn.lanes->rows.pointer_to(rows.back()));
    }
  for (region_id const r : fn.f.regions_of(n)) {
    bool const is_else = r != fn.f.region_at(n, 0);
    std::uint32_t const skip = fn.out.emit(
        is_else ? &deciding<jump_if_uniform<true>>::run : &deciding<jump_if_uniform<false>>::run, 0, mask);
    std::vector<offset> const mask_rows = branch_mask(fn, n, is_else);
    hint_results(fn, r, fitting_places(fn, r, to[is_else], results), {});
    lower_region(fn, r, ir::nothing);
    yield_lanes(fn, r, to[is_else], results);
    finish(fn, fn.f.yield_of(r), to[is_else]);
    fn.lanes->mask = outer;
    for (offset const row : mask_rows) fn.lanes->rows.free(row);
    fn.out.land(skip);
    fn.lanes->last = {};
  }
  for (std::size_t k = 0; k < results.size(); ++k) {
    emit_in_lanes(
        fn, ir::op::select, fn.type_of(results[k]).element, new_lanes(fn, results[k]), mask, to[0][k],
        to[1][k]);
  }
  for (offset const row : rows) fn.lanes->rows.free(row);
}

} // namespace

void lower_if_in_lanes(function_lowering& fn, node_id n) {
  fn.is_lanes(fn.f.operand(n, 0)) ? divergent_if(fn, n) : uniform_if(fn, n);
}

void lower_loop_in_lanes(function_lowering& fn, node_id n) {
  region_id const body = fn.f.region_at(n, 0);
  std::uint32_t const carried = fn.f[n].operand_count - 1;
  bool const is_reversed = fn.f[n].attributes.is_reversed();
  std::vector<offset> to = start_loop_carried_lanes(fn, n, 1, carried);
  value_list results, outputs, arguments;
  for (std::uint32_t k = 0; k < fn.f[n].result_count; ++k)
    (k < carried ? results : outputs).push_back(fn.f.result(n, k));
  offset const count = fn.at(fn.f.operand(n, 0));
  std::vector<offset> arrays;
  for (value_id const v : outputs) arrays.push_back(new_output(fn, v, count, &doing<make_stacked>::run));
  std::vector<offset> const places = new_places(fn, outputs);
  for (std::uint32_t k = 0; k < carried; ++k) {
    arguments.push_back(fn.f.argument(body, k + 1));
    fn.slots.assign(arguments[k], to[k]);
  }
  value_id const i = fn.f.argument(body, 0);
  offset const index = fn.slots.allocate(1);
  fn.slots.assign(i, index);
  std::uint32_t const start =
      fn.out.emit(is_reversed ? &start_reversed::run : &start_loop::run, index, count);
  std::uint32_t const begin = fn.out.label();
  fn.lanes->last = {};
  place_outputs(fn, outputs, arrays, places, index);
  value_list all = results;
  all.insert(all.end(), outputs.begin(), outputs.end());
  std::vector<offset> hints = to;
  hints.insert(hints.end(), places.begin(), places.end());
  arguments.resize(all.size(), ir::nothing);
  hint_results(fn, body, fitting_places(fn, body, hints, all), arguments);
  ++fn.lanes->depth;
  lower_region(fn, body, ir::nothing);
  node_id const last = fn.f.yield_of(body);
  for (std::uint32_t k = 0; k < outputs.size(); ++k)
    store_lanes(fn, fn.f.operand(last, carried + k), outputs[k], index, arrays[k], places[k]);
  yield_lanes(fn, body, to, results);
  release_temporaries(fn);
  emit_add_early(fn, body);
  --fn.lanes->depth;
  finish(fn, last, to);
  std::uint32_t const next = fn.out.emit(is_reversed ? &next_reversed::run : &next_loop::run, index, count);
  fn.out[next].c = emitter::displacement(next, begin);
  fn.out.land(start);
  fn.lanes->last = {};
  fn.slots.free(index, 1);
  free_places(fn, places);
}

void lower_while_in_lanes(function_lowering& fn, node_id n) {
  region_id const condition = fn.f.region_at(n, 0), body = fn.f.region_at(n, 1);
  std::uint32_t const carried = fn.f[n].operand_count;
  std::vector<offset> const to = start_loop_carried_lanes(fn, n, 0, carried);
  std::vector<offset> stacked; // of uniform outputs
  for (std::uint32_t k = carried; k < fn.f[n].result_count; ++k) {
    value_id const v = fn.f.result(n, k);
    stacked.push_back(fn.slots.assign_new(v));
    fn.out.emit(&doing<make_growing>::run, stacked.back(), 0, 0, shape_code(fn.type_of(v)));
  }
  value_list arguments, results;
  for (std::uint32_t k = 0; k < carried; ++k) {
    fn.slots.assign(fn.f.argument(condition, k), to[k]);
    arguments.push_back(fn.f.argument(body, k));
    fn.slots.assign(arguments[k], to[k]);
    results.push_back(fn.f.result(n, k));
  }
  std::uint32_t const begin = fn.out.label();
  fn.lanes->last = {};
  lower_region(fn, condition, ir::nothing);
  std::uint32_t const end = leave_unless(fn, condition);
  hint_results(fn, body, fitting_places(fn, body, to, results), arguments);
  ++fn.lanes->depth;
  lower_region(fn, body, ir::nothing);
  node_id const last = fn.f.yield_of(body);
  for (std::uint32_t k = 0; k < stacked.size(); ++k) {
    value_id const v = fn.f.operand(last, carried + k);
    fn.out.emit(
        &doing<push>::run, stacked[k], fn.at(v), 0, shape_code(fn.type_of(fn.f.result(n, carried + k))));
  }
  yield_lanes(fn, body, to, results);
  release_temporaries(fn);
  emit_add_early(fn, body);
  --fn.lanes->depth;
  finish(fn, last, to);
  std::uint32_t const back = fn.out.emit(&jump::run);
  fn.out[back].c = emitter::displacement(back, begin);
  fn.out.land(end);
  fn.lanes->last = {};
}

void lower_accumulate_in_lanes(function_lowering& fn, node_id n) {
  region_id const region = fn.f.region_at(n, 0);
  std::uint32_t const count = fn.f[n].operand_count;
  std::vector<offset> const to = start_loop_carried_lanes(fn, n, 0, count);
  for (std::uint32_t k = 0; k < count; ++k) {
    value_id const v = fn.f.result(n, k);
    ir::type const t = fn.type_of(v);
    fn.out.emit(
        &doing<own>::run, 0, to[k], offset{t.rank},
        fn.is_lanes(v) ? row_size_of(t.element) : scalar_bytes(t));
    fn.slots.assign(fn.f.argument(region, k), to[k]);
  }
  value_list more;
  for (std::uint32_t k = count; k < fn.f[n].result_count; ++k) more.push_back(fn.f.result(n, k));
  std::vector<offset> const places = new_results(fn, more);
  lower_region(fn, region, ir::nothing);
  yield_lanes(fn, region, places, more);
  finish(fn, fn.f.yield_of(region), places);
}

} // namespace overdub::execute
