#include "maps.hpp"

#include "arrays.hpp"
#include "blocks.hpp"
#include "bounds_checks.hpp"
#include "counted_loop.hpp"
#include "lanes.hpp"
#include "look_ahead.hpp"
#include "map_plan.hpp"
#include "memory_access.hpp"
#include "operations.hpp"
#include "outputs.hpp"
#include "points.hpp"
#include "reference_counts.hpp"
#include "sums.hpp"

namespace overdub::jit {
namespace {

void emit_map_by_element(
    function_state& fn, node_id n, std::vector<output> const& outputs, std::vector<summed> const& sums) {
  region_id const body = fn.f.region_at(n, 0);
  llvm::Value* const count = fn.scalar(fn.f.operand(n, 0));
  // Partial sums of floating-point numbers are in memory; sums of integers are loop-carried.
  parts start;
  std::vector<llvm::Value*> lanes;
  for (summed const& s : sums) {
    ir::scalar const type = fn.type_of(s.result).element;
    if (type == ir::scalar::i64) {
      start.push_back(fn.e.integer(0));
      lanes.push_back(nullptr);
      continue;
    }
    lanes.push_back(fn.e.new_words(8));
    llvm::Value* const none = no_lanes(fn.e, type);
    fn.b.CreateAlignedStore(none, lanes.back(), fn.e.vector_alignment(none->getType()));
  }
  parts const ends = emit_versions(fn, body, count, [&] {
    auto const loop = begin_loop(fn.e, count, start);
    fn.set(fn.f.argument(body, 0), loop.index);
    emit_region(fn, body);
    for (output const& o : outputs) store_output(fn, o, loop.index);
    parts next;
    for (std::size_t k = 0; k < sums.size(); ++k) {
      ir::scalar const type = fn.type_of(sums[k].result).element;
      llvm::Value* const x = fn.scalar(sums[k].yielded);
      if (type == ir::scalar::i64) {
        next.push_back(fn.b.CreateAdd(loop.carried[next.size()], x));
        continue;
      }
      llvm::Value* const lane =
          element_address(fn.e, type, lanes[k], fn.b.CreateAnd(loop.index, fn.e.integer(7)));
      store_scalar(fn.e, type, fn.b.CreateFAdd(load_scalar(fn.e, type, lane), x), lane);
    }
    release_after(fn, fn.f.yield_of(body));
    end_loop(fn.e, loop, next);
    return loop.carried_parts();
  });
  std::size_t next = 0;
  for (std::size_t k = 0; k < sums.size(); ++k) {
    ir::scalar const type = fn.type_of(sums[k].result).element;
    fn.reduced[index_of(sums[k].reduction)] =
        type == ir::scalar::i64 ? ends[next++] : fold_stored_lanes(fn.e, type, lanes[k]);
  }
}

} // namespace

void emit_map(function_state& fn, node_id n) {
  region_id const body = fn.f.region_at(n, 0);
  llvm::Value* const count = fn.scalar(fn.f.operand(n, 0));
  look_ahead(fn, body);
  map_plan const plan = plan_map(fn, n);
  std::vector<output> outputs;
  for (mapped const& m : plan.arrays)
    if (m.fills_rows) {
      outputs.push_back({m.result, m.yielded});
      fill_rows(fn, outputs.back(), body, count);
    } else
      outputs.push_back(new_output(fn, m.result, m.yielded, count, ir::op::map));
  if (outputs.empty()) require_not_negative(fn, ir::op::map, count);
  for (summed const& s : plan.sums) { // the reduction only needs the size of the array
    auto* const none = fn.e.null();
    fn.set(s.result, value{{none, none, count}});
  }
  if (plan.vectors)
    emit_vector_sums(fn, n, *plan.vectors, plan.sums, outputs);
  else {
    std::optional<points> all;
    if (plan.points) all = begin_points(fn, n, *plan.points, outputs, plan.sums);
    if (plan.blocks)
      emit_map_in_blocks(fn, n, *plan.blocks, outputs, plan.sums);
    else
      emit_map_by_element(fn, n, outputs, plan.sums);
    if (all) end_points(fn, *all, plan.sums);
  }
  for (output const& o : outputs) finish_output(fn, o);
}

} // namespace overdub::jit
