// Loop versioning for bounds checks: indices base + i or base - i with a loop-invariant base need one check before the
// loop. If it fails, the original loop runs, and finds the first index out of range. A failure costs little, so the check also covers
// accesses that may not run; but the loop is emitted twice, so its body is small and has no loops. For programs that can be repeated,
// look_ahead.hpp covers nests of loops first; ir/index_ranges.hpp compares the two plans.
#pragma once

#include "function.hpp"
#include "look_ahead.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace overdub::jit {

/// An index of an access, as a function of the loop's index.
struct affine_index {
  std::uint32_t axis;
  value_id index;
  int coefficient;
};
/// An access whose indices one check covers.
struct access_check {
  node_id access;
  value_id array; // which is defined before the loop, with the same extents
  llvm::SmallVector<affine_index, 2> indices;
};
/// The checks of one loop that can be hoisted.
struct check_plan {
  std::vector<access_check> accesses;
  bool complete = true; // all accesses are covered
};
/// Plans the checks of a loop that look_ahead leaves; nothing if none can be hoisted. O(operations).
std::optional<check_plan> plan_checks(function_state const&, region_id body);
/// Emits the combined check of a loop with trip count `count`. Returns whether it holds; null if none is needed.
llvm::Value* emit_checks(function_state&, check_plan const& plan, region_id body, llvm::Value* count);
/// Sets whether the check covers its accesses in the code that is emitted next.
void set_covered(function_state&, check_plan const& plan, bool is);

/// A loop that `emit` emits; twice, if there is a version without checks. `emit` returns the loop's results.
template <class Emit>
parts emit_versions(function_state& fn, region_id body, llvm::Value* count, Emit const& emit) {
  look_ahead(fn, body);
  auto const plan = plan_checks(fn, body);
  if (!plan || plan->accesses.empty()) return emit();
  llvm::Value* const holds = emit_checks(fn, *plan, body, count);
  block const fast = fn.e.new_block("in_range"), slow = fn.e.new_block("checked"),
              next = fn.e.new_block("after");
  fn.b.CreateCondBr(holds, fast, slow);
  fn.e.at(fast);
  set_covered(fn, *plan, true);
  parts const a = emit();
  block const end = fn.b.GetInsertBlock();
  fn.e.go(next);
  fn.e.at(slow);
  set_covered(fn, *plan, false);
  parts const b = emit();
  block const other_end = fn.b.GetInsertBlock();
  fn.e.go(next);
  fn.e.at(next);
  return fn.e.joined(a, end, b, other_end);
}

} // namespace overdub::jit
