#include <overdub/implementation/execute/array_handlers.hpp>
#include <overdub/implementation/execute/control_handlers.hpp>
#include <overdub/implementation/execute/flatten.hpp>
#include <overdub/implementation/execute/lower_blocks.hpp>
#include <overdub/implementation/execute/lower_control.hpp>
#include <overdub/implementation/execute/yields.hpp>

namespace overdub::execute {
namespace {

// Assigns a slot to each loop-carried value, and moves the initial values to these slots.
std::vector<offset>
start_loop_carried(function_lowering& fn, node_id n, std::uint32_t first_operand, std::uint32_t count) {
  std::vector<offset> to;
  std::vector<word_move> moves;
  for (std::uint32_t k = 0; k < count; ++k) to.push_back(fn.slots.assign_new(fn.f.result(n, k)));
  for (std::uint32_t k = 0; k < count; ++k) {
    value_id const v = fn.f.operand(n, first_operand + k);
    retain_consumed(fn, n, first_operand + k);
    moves.push_back({fn.at(v), to[k], fn.slots.words_of(v)});
  }
  emit_moves(fn, std::move(moves));
  return to;
}

// Vectorises an operation whose iterations are independent, if its body fits.
bool lowered_in_blocks(function_lowering& fn, node_id n) {
  if (fn.lanes != nullptr) return false; // an enclosing map is vectorised already
  lane_plan const plan(fn.f, fn.f.region_at(n, 0));
  if (plan.fits()) lower_in_blocks(fn, n, plan);
  return plan.fits();
}

} // namespace

void lower_if(function_lowering& fn, node_id n) {
  value_id const mask = fn.f.operand(n, 0);
  std::vector<offset> const to = new_slots(fn, fn.f.results_of(n));
  std::uint32_t const to_else = fn.out.jump_if_false({mask, fn.at(mask), is_only_use(fn.f, mask, n)});
  std::uint32_t to_end = 0;
  for (region_id const r : fn.f.regions_of(n)) {
    bool const is_else = r != fn.f.region_at(n, 0);
    if (is_else) fn.out.land(to_else);
    hint_results(fn, r, to, {});
    lower_region(fn, r);
    yield_to(fn, r, to);
    finish(fn, fn.f.yield_of(r), to);
    if (!is_else) to_end = fn.out.emit(&jump::run);
  }
  fn.out.land(to_end);
}

void lower_loop(function_lowering& fn, node_id n) {
  region_id const body = fn.f.region_at(n, 0);
  std::uint32_t const carried = fn.f[n].operand_count - 1;
  if (has_elements(fn.f, n) && lowered_in_blocks(fn, n)) return;
  std::uint32_t const outputs = fn.f[n].result_count - carried;
  bool const is_reversed = fn.f[n].attributes.is_reversed();
  std::vector<offset> const to = start_loop_carried(fn, n, 1, carried);
  std::vector<offset> stacked;
  offset const count = fn.at(fn.f.operand(n, 0));
  for (std::uint32_t k = 0; k < outputs; ++k) {
    value_id const v = fn.f.result(n, carried + k);
    stacked.push_back(fn.slots.assign_new(v));
    fn.out.emit(
        &doing<make_stacked>::run, stacked[k], count, offset{fn.type_of(v).rank},
        scalar_bytes(fn.type_of(v)));
  }
  value_id const i = fn.f.argument(body, 0);
  value_list arguments;
  for (std::uint32_t k = 0; k < carried; ++k) {
    arguments.push_back(fn.f.argument(body, k + 1));
    fn.slots.assign(arguments[k], to[k]);
  }
  offset const index = fn.slots.allocate(1);
  fn.slots.assign(i, index);
  std::uint32_t const start =
      fn.out.emit(is_reversed ? &start_reversed::run : &start_loop::run, index, count);
  std::uint32_t const begin = fn.out.label();
  fn.out.set_in_register(i);
  hint_results(fn, body, to, arguments);
  node_id const last = fn.f.yield_of(body);
  auto const stack_outputs = [&](bool first) {
    for (std::uint32_t k = 0; k < outputs; ++k)
      if (is_stacked_first(fn, ir::use_id{fn.f[last].first_operand + carried + k}, body) == first)
        store_output(fn, fn.f.operand(last, carried + k), index, stacked[k]);
  };
  stack_outputs(true);
  lower_region(fn, body);
  stack_outputs(false);
  yield_to(fn, body, to);
  finish(fn, last, to);
  std::uint32_t const next = fn.out.emit(is_reversed ? &next_reversed::run : &next_loop::run, index, count);
  fn.out[next].c = emitter::displacement(next, begin);
  fn.out.land(start);
  fn.slots.free(index, 1);
}

void lower_while(function_lowering& fn, node_id n) {
  region_id const condition = fn.f.region_at(n, 0), body = fn.f.region_at(n, 1);
  std::uint32_t const carried = fn.f[n].operand_count;
  std::uint32_t const outputs = fn.f[n].result_count - carried;
  std::vector<offset> const to = start_loop_carried(fn, n, 0, carried);
  std::vector<offset> stacked;
  for (std::uint32_t k = 0; k < outputs; ++k) {
    value_id const v = fn.f.result(n, carried + k);
    stacked.push_back(fn.slots.assign_new(v));
    fn.out.emit(&doing<make_growing>::run, stacked[k], 0, 0, shape_code(fn.type_of(v)));
  }
  value_list arguments;
  for (std::uint32_t k = 0; k < carried; ++k) {
    fn.slots.assign(fn.f.argument(condition, k), to[k]);
    arguments.push_back(fn.f.argument(body, k));
    fn.slots.assign(arguments[k], to[k]);
  }
  std::uint32_t const begin = fn.out.label();
  lower_region(fn, condition);
  std::uint32_t const end = leave_unless(fn, condition);
  hint_results(fn, body, to, arguments);
  lower_region(fn, body);
  node_id const last = fn.f.yield_of(body);
  for (std::uint32_t k = 0; k < outputs; ++k) {
    value_id const v = fn.f.operand(last, carried + k);
    fn.out.emit(
        &doing<push>::run, stacked[k], fn.at(v), 0, shape_code(fn.type_of(fn.f.result(n, carried + k))));
  }
  yield_to(fn, body, to);
  finish(fn, last, to);
  std::uint32_t const back = fn.out.emit(&jump::run);
  fn.out[back].c = emitter::displacement(back, begin);
  fn.out.land(end);
}

void lower_map(function_lowering& fn, node_id n) {
  if (lowered_in_blocks(fn, n)) return;
  region_id const body = fn.f.region_at(n, 0);
  offset const count = fn.at(fn.f.operand(n, 0));
  std::vector<offset> made;
  for (value_id const v : fn.f.results_of(n)) {
    made.push_back(fn.slots.assign_new(v));
    fn.out.emit(
        &doing<make_mapped>::run, made.back(), count, offset{fn.type_of(v).rank},
        scalar_bytes(fn.type_of(v)));
  }
  if (made.empty()) fn.out.emit(&doing<check_count>::run, 0, count);
  value_id const i = fn.f.argument(body, 0);
  offset const index = fn.slots.allocate(1);
  fn.slots.assign(i, index);
  std::uint32_t const start = fn.out.emit(&start_loop::run, index, count);
  std::uint32_t const begin = fn.out.label();
  fn.out.set_in_register(i);
  lower_region(fn, body);
  node_id const last = fn.f.yield_of(body);
  for (std::uint32_t k = 0; k < made.size(); ++k) store_output(fn, fn.f.operand(last, k), index, made[k]);
  finish(fn, last);
  std::uint32_t const next = fn.out.emit(&next_loop::run, index, count);
  fn.out[next].c = emitter::displacement(next, begin);
  fn.out.land(start);
  fn.slots.free(index, 1);
}

// Each accumulator has a buffer with one reference while the region runs, so that additions write in place.
void lower_accumulate(function_lowering& fn, node_id n) {
  region_id const region = fn.f.region_at(n, 0);
  std::uint32_t const count = fn.f[n].operand_count;
  std::vector<offset> const to = start_loop_carried(fn, n, 0, count);
  for (std::uint32_t k = 0; k < count; ++k) {
    ir::type const t = fn.type_of(fn.f.result(n, k));
    fn.out.emit(&doing<own>::run, 0, to[k], offset{t.rank}, scalar_bytes(t));
    fn.slots.assign(fn.f.argument(region, k), to[k]);
  }
  std::vector<offset> more;
  for (std::uint32_t k = count; k < fn.f[n].result_count; ++k)
    more.push_back(fn.slots.assign_new(fn.f.result(n, k)));
  hint_results(fn, region, more, {});
  lower_region(fn, region);
  yield_to(fn, region, more);
  finish(fn, fn.f.yield_of(region), more);
}

void lower_protect(function_lowering& fn, node_id n) {
  std::vector<offset> const to = new_slots(fn, fn.f.results_of(n));
  region_id const tried = fn.f.region_at(n, 0), failed = fn.f.region_at(n, 1);
  std::uint32_t const guard = fn.out.emit(&protect::run);
  lower_region(fn, tried);
  yield_to(fn, tried, to);
  finish(fn, fn.f.yield_of(tried), to);
  fn.out.emit(&doing<unprotect>::run);
  std::uint32_t const end = fn.out.emit(&jump::run);
  fn.out.land(guard);
  lower_region(fn, failed);
  finish(fn, fn.f.yield_of(failed));
  fn.out.emit(&doing<rethrow>::run);
  fn.out.land(end);
}

} // namespace overdub::execute
