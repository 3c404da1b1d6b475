#include "maps.hpp"

#include "arrays.hpp"
#include "blocks.hpp"
#include "bounds_checks.hpp"
#include "counted_loop.hpp"
#include "lanes.hpp"
#include "memory_access.hpp"
#include "operations.hpp"
#include "outputs.hpp"
#include "points.hpp"
#include "reference_counts.hpp"
#include "sums.hpp"

#include <overdub/implementation/ir/only_reduction.hpp>

namespace overdub::jit {
namespace {

// The sum of an array of numbers, if it is the only use.
node_id only_sum(ir::function const& f, value_id v) {
  ir::type const t = f.type_of(v);
  node_id const found = ir::only_reduction(f, v);
  bool const is_sum = found != ir::nothing && f[found].attributes.operation == ir::op::add && t.rank == 1 &&
                      t.element != ir::scalar::boolean;
  return is_sum ? found : node_id(ir::nothing);
}

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
  node_id const last = fn.f.yield_of(body);
  llvm::Value* const count = fn.scalar(fn.f.operand(n, 0));
  std::vector<output> outputs;
  std::vector<summed> sums;
  for (std::uint32_t k = 0; k < fn.f[n].result_count; ++k) {
    value_id const result = fn.f.result(n, k), yielded = fn.f.operand(last, k);
    if (node_id const reduction = only_sum(fn.f, result); reduction != ir::nothing)
      sums.push_back({result, yielded, reduction});
    else if (can_fill_row(fn, yielded, body)) {
      outputs.push_back({result, yielded});
      fill_rows(fn, outputs.back(), body, count);
    } else
      outputs.push_back(new_output(fn, result, yielded, count, ir::op::map));
  }
  if (outputs.empty()) require_not_negative(fn, ir::op::map, count);
  for (summed const& s : sums) { // the reduction only needs the size of the array
    auto* const none = fn.e.null();
    fn.set(s.result, value{{none, none, count}});
  }
  if (sums.empty() || !emit_vector_sums(fn, n, sums, outputs)) {
    auto const eights = begin_points(fn, n, outputs, sums);
    if (!emit_map_in_blocks(fn, n, outputs, sums)) emit_map_by_element(fn, n, outputs, sums);
    if (eights) end_points(fn, *eights, sums);
  }
  for (output const& o : outputs) finish_output(fn, o);
}

} // namespace overdub::jit
