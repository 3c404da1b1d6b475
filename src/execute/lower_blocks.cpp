#include <overdub/implementation/execute/add_handlers.hpp>
#include <overdub/implementation/execute/array_handlers.hpp>
#include <overdub/implementation/execute/block_reduce_handlers.hpp>
#include <overdub/implementation/execute/control_handlers.hpp>
#include <overdub/implementation/execute/lane_values.hpp>
#include <overdub/implementation/execute/lane_yields.hpp>
#include <overdub/implementation/execute/lower_blocks.hpp>
#include <overdub/implementation/execute/yields.hpp>

#include <algorithm>
#include <limits>

namespace overdub::execute {
namespace {

// A result of a vectorised map.
struct block_output {
  value_id result, yielded;
  offset array = no_word;       // the result, or three words in place of an array that is not created
  node_id reduce = ir::nothing; // the reduction that consumes the result instead of storing it
  offset state = no_word;       // of the reduction
  offset place = no_word;       // points to the destination of the block's elements
  offset row = no_word;         // of lanes, if they are there
};

// A limit as an operand of an instruction.
offset as_operand(i64 limit) {
  return static_cast<offset>(std::clamp<i64>(limit, 0, std::numeric_limits<std::int32_t>::max()));
}

// Maps over rows that are too long for lanes are detected before they begin.
void limit_rows_in(function_lowering& fn, region_id r, lane_plan const& plan, offset block, offset longest) {
  for (node_id const n : fn.f.nodes_of(r)) {
    for (region_id const inner : fn.f.regions_of(n)) limit_rows_in(fn, inner, plan, block, longest);
    if (fn.f[n].code != ir::op::at || fn.type_of(fn.f.result(n)).rank == 0 || !plan.varies(fn.f.result(n)))
      continue;
    value_id const array = fn.f.operand(n, 0);
    if (plan.is_outside(array) && !plan.varies(array))
      fn.out.emit(&doing<limit_rows>::run, block, fn.at(array), offset{fn.type_of(array).rank}, longest);
  }
}

// The outputs: arrays, or reductions of them. Emits the creation of the arrays.
std::vector<block_output>
make_block_outputs(function_lowering& fn, node_id n, lane_plan const& plan, offset count) {
  node_id const last = fn.f.yield_of(fn.f.region_at(n, 0));
  bool const is_map = fn.f[n].code == ir::op::map;
  std::vector<block_output> outputs;
  for (std::uint32_t k = 0; k < fn.f[n].result_count; ++k) {
    block_output o{fn.f.result(n, k), fn.f.operand(last, k)};
    o.reduce = plan.reduction_of(o.result);
    if (o.reduce != ir::nothing) {
      o.array = fn.slots.allocate(3);
      o.state = fn.slots.allocate(block_reduction::size);
      fn.slots.assign(o.result, no_word);
      fn.out.emit(&doing<start_block_reduction>::run, o.state);
    } else
      o.array =
          new_output(fn, o.result, count, is_map ? &doing<make_mapped>::run : &doing<make_stacked>::run);
    outputs.push_back(o);
  }
  if (is_map) fn.out.emit(&doing<check_count>::run, 0, count);
  return outputs;
}

void reduce_block(function_lowering& fn, block_output const& o) {
  auto const code = fn.number(fn.f[o.reduce].attributes.operation);
  fn.out.emit(
      fn.type_of(o.yielded) == ir::f64 ? &doing<block_reduce<double>>::run : &doing<block_reduce<i64>>::run,
      o.state, o.place, 0, code);
}

void store_rows_of_lanes(function_lowering& fn, value_id v, offset array, offset first) {
  ir::type const t = fn.type_of(v);
  if (!fn.is_lanes(v)) {
    fn.out.emit(&doing<lane_store_same_rows>::run, array, fn.at(v), first, shape_code(t.array_of()));
    return;
  }
  with_type(t.element, [&]<class T>(T) {
    fn.out.emit(&doing<lane_store_rows<T>>::run, array, fn.at(v), first, offset{t.rank} + 1);
  });
}

// Stores the results of a block.
void store_block(function_lowering& fn, block_output const& o, offset first) {
  ir::type const t = fn.type_of(o.yielded);
  if (t.rank > 0) return store_rows_of_lanes(fn, o.yielded, o.array, first);
  offset place = o.place;
  if (!fn.is_lanes(o.yielded))
    emit_fill(fn, o.yielded, place);
  else if (t == ir::boolean)
    place = fn.at(o.yielded);
  else if (fn.at(o.yielded) != place)
    fn.out.emit(&doing<lane_copy>::run, place, fn.at(o.yielded), 0, lane_size_of(t.element));
  if (o.reduce != ir::nothing)
    reduce_block(fn, o);
  else if (t == ir::boolean)
    fn.out.emit(&doing<lane_store_bools>::run, o.array, place, first);
}

void lower_block_in_lanes(function_lowering& fn, region_id body, std::vector<block_output>& outputs) {
  offset const block = fn.lanes->block, first = block + block_words::first;
  for (block_output& o : outputs) {
    ir::type const t = fn.type_of(o.yielded);
    if (t.rank > 0) continue;
    if (o.reduce != ir::nothing || t == ir::boolean) {
      o.row = fn.lanes->rows.take();
      o.place = fn.lanes->rows.pointer_to(o.row);
    } else {
      o.place = fn.slots.allocate(1);
      fn.out.emit(&doing<lane_row>::run, o.place, o.array, first, scalar_bytes(t));
    }
  }
  value_id const i = fn.lanes->plan.index();
  make_strided(fn, i, first, block + block_words::one);
  node_id const product = fn.lanes->plan.summed_product(fn.f[body].parent);
  if (product == ir::nothing) {
    std::vector<offset> places;
    for (block_output const& o : outputs) places.push_back(fn.is_lanes(o.yielded) ? o.place : no_word);
    hint_results(fn, body, places, {});
  }
  lower_region(fn, body, product);
  if (product != ir::nothing) {
    fn.out.emit(
        &doing<block_sum_products>::run, outputs[0].state, fn.at(fn.f.operand(product, 0)),
        fn.at(fn.f.operand(product, 1)));
    finish(fn, product);
  } else
    for (block_output const& o : outputs) store_block(fn, o, first);
  finish(fn, fn.f.yield_of(body));
}

void lower_block_one_by_one(
    function_lowering& fn, region_id body, offset block, std::vector<block_output> const& outputs) {
  offset const first = block + block_words::first;
  node_id const last = fn.f.yield_of(body);
  for (block_output const& o : outputs)
    if (o.reduce != ir::nothing) fn.out.emit(&doing<lane_window>::run, o.array, o.place, first, word_size);
  value_id const i = fn.f.argument(body, 0);
  offset const index = fn.slots.allocate(1);
  fn.slots.assign(i, index);
  emit_move(fn, {first, index, 1});
  std::uint32_t const element = fn.out.label();
  lower_region(fn, body, ir::nothing);
  for (block_output const& o : outputs) store_output(fn, o.yielded, index, o.array);
  finish(fn, last);
  std::uint32_t const next = fn.out.emit(&next_loop::run, index, block + block_words::end);
  fn.out[next].c = emitter::displacement(next, element);
  fn.slots.free(index, 1);
  bool const reduces = std::any_of(
      outputs.begin(), outputs.end(), [](block_output const& o) { return o.reduce != ir::nothing; });
  if (reduces) fn.out.emit(&doing<count_block>::run, block);
  for (block_output const& o : outputs)
    if (o.reduce != ir::nothing) reduce_block(fn, o);
}

// Patches the instruction that allocates rows of lanes, and sets the pointers to them, once their number is known.
void set_rows(function_lowering& fn, std::uint32_t bind, lane_state& lanes) {
  for (offset const step : lanes.steps) fn.slots.free(step, 1);
  std::vector<offset> const pointers = lanes.rows.end();
  fn.out[bind].a = fn.out.list(pointers);
  fn.out[bind].b = static_cast<offset>(pointers.size() / 2);
  fn.out[bind].c = lanes.rows.count();
}

} // namespace

void lower_in_blocks(function_lowering& fn, node_id n, lane_plan const& plan) {
  region_id const body = fn.f.region_at(n, 0);
  offset const count = fn.at(fn.f.operand(n, 0));
  offset const block = fn.slots.allocate(block_words::size);
  std::vector<block_output> outputs = make_block_outputs(fn, n, plan, count);
  offset const memory = fn.slots.allocate(3);
  std::uint32_t const bind = fn.out.emit(&doing<bind_lanes>::run, memory);
  std::uint32_t const start =
      fn.out.emit(&deciding<start_blocks>::run, block, count, as_operand(fn.shared.options.lanes_from));
  limit_rows_in(fn, body, plan, block, as_operand(fn.shared.options.longest_row));

  std::uint32_t const begin = fn.out.label();
  std::uint32_t const decide = fn.out.emit(&deciding<begin_block>::run, block, count);
  ir::counting_rules const rules{
      fn.shared.owners,
      {},
      nullptr,
      [&](value_id v) { return plan.varies(v); },
      [&](node_id inner) { return plan.is_in_lanes(inner); }};
  lane_state lanes{plan, {fn.f, fn.order, rules, body}, block, lane_rows(fn.slots)};
  fn.lanes = &lanes;
  bool const defers = plan.defers_in(body);
  if (defers) {
    (void)fn.out.label(); // where a block restarts
    fn.out.emit(&doing<begin_adds>::run);
  }
  lower_block_in_lanes(fn, body, outputs);
  if (defers) fn.out.emit(&doing<finish_adds>::run);
  fn.lanes = nullptr;
  std::uint32_t const done = fn.out.emit(&jump::run);
  fn.out.land(decide);
  lower_block_one_by_one(fn, body, block, outputs);
  fn.out.land(done);
  std::uint32_t const following = fn.out.emit(&deciding<next_block>::run, block, count);
  fn.out[following].c = emitter::displacement(following, begin);
  fn.out.land(start);

  set_rows(fn, bind, lanes);
  fn.out.emit(&release_owner::run, 0, memory + word_size);
  fn.slots.free(memory, 3);
  fn.slots.free(block, block_words::size);
  for (block_output const& o : outputs) {
    if (o.row == no_word && o.place != no_word) fn.slots.free(o.place, 1);
    if (o.reduce == ir::nothing) continue;
    fn.slots.free(o.array, 3);
    fn.fused_maps.push_back({o.reduce, o.state});
  }
}

} // namespace overdub::execute
