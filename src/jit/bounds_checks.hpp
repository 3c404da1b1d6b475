// Loop versioning for bounds checks: indices base + i or base - i with a loop-invariant base need one check before the
// loop. If it fails, the original loop runs, and finds the first index out of range.
#pragma once

#include "function.hpp"

#include <optional>
#include <vector>

namespace overdub::jit {

/// The checks of one loop that can be hoisted.
struct hoisted_checks {
  std::vector<node_id> accesses; // the accesses whose checks it replaces
  llvm::Value* holds = nullptr;  // the combined check; null: none is needed
  bool complete = true;          // all accesses are covered
};
/// Emits the hoisted checks of a loop with trip count `count`; nothing if other checks remain.
std::optional<hoisted_checks> hoist_checks(function_state&, region_id body, llvm::Value* count);
/// Sets whether the check covers its accesses in the code that is emitted next.
void set_covered(function_state&, hoisted_checks const& c, bool is);

/// A loop that `emit` emits; twice, if there is a version without checks. `emit` returns the loop's results.
template <class Emit>
parts emit_versions(function_state& fn, region_id body, llvm::Value* count, Emit const& emit) {
  auto const checks = hoist_checks(fn, body, count);
  if (!checks || checks->accesses.empty()) return emit();
  if (checks->holds == nullptr) {
    set_covered(fn, *checks, true);
    return emit();
  }
  block const fast = fn.e.new_block("in_range"), slow = fn.e.new_block("checked"),
              next = fn.e.new_block("behind");
  fn.b.CreateCondBr(checks->holds, fast, slow);
  fn.e.at(fast);
  set_covered(fn, *checks, true);
  parts const a = emit();
  block const end = fn.b.GetInsertBlock();
  fn.e.go(next);
  fn.e.at(slow);
  set_covered(fn, *checks, false);
  parts const b = emit();
  block const other_end = fn.b.GetInsertBlock();
  fn.e.go(next);
  fn.e.at(next);
  return fn.e.joined(a, end, b, other_end);
}

} // namespace overdub::jit
