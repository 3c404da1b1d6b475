#include "bounds_checks.hpp"

#include "affine_index.hpp"

#include <overdub/implementation/ir/unchecked_access.hpp>

#include <utility>

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

// Plans the check of an access, if it needs one. Returns whether it is covered.
bool plan_check(function_state const& fn, ir::unchecked_access const& a, region_id body, check_plan& plan) {
  if (a.axes.empty()) return true;
  if (a.array == ir::nothing) return false;
  access_check made{a.access, a.array, {}};
  for (std::uint32_t const k : a.axes) {
    value_id const index = fn.f.operand(a.access, 1 + k);
    auto const coefficient = coefficient_in(fn.f, index, body);
    if (!coefficient) return false;
    made.indices.push_back({k, index, *coefficient});
  }
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
      if (auto const access = ir::unchecked_access_of(fn.f, fn.in_place, fn.in_range, body, n))
        plan.complete = plan_check(fn, *access, body, plan) && plan.complete;
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
