#include "bounds_checks.hpp"

#include "affine_index.hpp"

#include <overdub/implementation/ir/update_chain.hpp>
#include <overdub/ir/regions.hpp>

namespace overdub::jit {
namespace {

// Whether a body has neither loops nor calls.
bool is_simple(ir::function const& f, region_id body, std::uint32_t& size) {
  for (node_id const n : f.nodes_of(body)) {
    ++size;
    ir::op const code = f[n].code;
    if (code == ir::op::if_) {
      for (region_id const r : f.regions_of(n))
        if (!is_simple(f, r, size)) return false;
    } else if (
        !ir::is_elementwise(code) && code != ir::op::convert && code != ir::op::at &&
        code != ir::op::update && code != ir::op::length && code != ir::op::yield && code != ir::op::add_to)
      return false;
  }
  return size < 200;
}

// The array whose extents are those of an array that a loop accesses; nothing if they vary. Arrays created in the loop
// vary in size, except loop-carried ones that are updated in place.
std::optional<value_id> invariant_array(function_state const& fn, value_id array, region_id body) {
  if (value_id const carried = ir::before_updates(fn.f, array, ir::any_number); fn.in_place.has(carried))
    return carried;
  if (ir::is_defined_in(fn.f, array, body)) return {};
  return array;
}

// Plans the check of an access, if it needs one. Returns whether it is covered.
bool plan_check(
    function_state const& fn, node_id n, std::uint32_t indices, region_id body, check_plan& plan) {
  access_check made{n, {}, {}};
  for (std::uint32_t k = 0; k < indices; ++k) {
    if (fn.in_range.has(n, k)) continue;
    value_id const index = fn.f.operand(n, 1 + k);
    auto const coefficient = coefficient_in(fn.f, index, body);
    if (!coefficient) return false;
    made.indices.push_back({k, index, *coefficient});
  }
  if (made.indices.empty()) return true;
  auto const array = invariant_array(fn, fn.f.operand(n, 0), body);
  if (!array) return false;
  made.array = *array;
  plan.accesses.push_back(std::move(made));
  return true;
}

} // namespace

std::optional<check_plan> plan_checks(function_state const& fn, region_id body) {
  std::uint32_t size = 0;
  if (fn.e.current_handler) return {};
  if (!is_simple(fn.f, body, size)) return {};
  check_plan plan;
  std::vector<region_id> regions_left{body};
  while (!regions_left.empty()) {
    region_id const r = regions_left.back();
    regions_left.pop_back();
    for (node_id const n : fn.f.nodes_of(r)) {
      for (region_id const inner : fn.f.regions_of(n)) regions_left.push_back(inner);
      ir::op const code = fn.f[n].code;
      if (code != ir::op::at && code != ir::op::update && code != ir::op::add_to) continue;
      std::uint32_t const others = code == ir::op::at ? 1 : 2; // operands that are not indices
      plan.complete = plan_check(fn, n, fn.f[n].operand_count - others, body, plan) && plan.complete;
    }
  }
  if (!plan.complete && plan.accesses.empty()) return {};
  return plan;
}

namespace {

// Whether an index is in range in all iterations.
llvm::Value* is_in_range(
    function_state& fn, affine_index const& i, llvm::Value* base, llvm::Value* extent, llvm::Value* count) {
  if (i.coefficient == 0) return fn.b.CreateICmpULT(base, extent);
  if (i.coefficient < 0) // base - count + 1, ..., base
    return fn.b.CreateAnd(
        fn.b.CreateICmpULT(base, extent), fn.b.CreateICmpSGE(base, fn.b.CreateSub(count, fn.e.integer(1))));
  return fn.b.CreateAnd(
      fn.b.CreateICmpSLE(count, extent), fn.b.CreateICmpULE(base, fn.b.CreateSub(extent, count)));
}

} // namespace

llvm::Value* emit_checks(function_state& fn, check_plan const& plan, region_id body, llvm::Value* count) {
  llvm::Value* holds = nullptr;
  for (access_check const& each : plan.accesses) {
    parts bases;
    for (affine_index const& i : each.indices) bases.push_back(base_in(fn, i.index, body));
    value const array = fn.get(each.array);
    for (std::size_t k = 0; k < bases.size(); ++k) {
      affine_index const& i = each.indices[k];
      llvm::Value* const good = is_in_range(fn, i, bases[k], array.extent(i.axis), count);
      holds = holds == nullptr ? good : fn.b.CreateAnd(holds, good);
    }
  }
  return holds;
}

void set_covered(function_state& fn, check_plan const& plan, bool is) {
  for (access_check const& each : plan.accesses) fn.in_range.set_covered(each.access, is);
}

} // namespace overdub::jit
