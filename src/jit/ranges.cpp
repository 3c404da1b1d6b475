// Loop versioning for bounds checks: indices base + i or base - i with a loop-invariant base need one check before the
// loop. If it fails, the original loop runs, and finds the first index out of range.
#include "function.hpp"

namespace overdub::jit {

// The coefficient of a value in the index of this loop, if it is -1, 0 or 1.
std::optional<int> function_compiler::coefficient_in(value_id v, region_id body, int depth) const {
  if (v == f_.argument(body, 0)) return 1;
  if (!ir::is_defined_in(f_, v, body)) return 0;
  // The index of a nested loop, if it is uniform over the elements that are vectorised together.
  if (f_.is_argument(v)) return ir::is_iteration_index(f_, v) ? std::optional(0) : std::nullopt;
  if (!f_.is_result(v) || depth > 8 || type_of(v) != ir::i64) return {};
  node_id const n = f_.node_of(v);
  ir::op const code = f_[n].code;
  bool const is_sum = code == ir::op::add || code == ir::op::sub;
  bool const divides =
      code == ir::op::div && f_.is_literal(f_.operand(n, 1)) && f_.bits_of(f_.operand(n, 1)) != 0;
  if (!is_sum && code != ir::op::mul && !divides) return {};
  auto const x = coefficient_in(f_.operand(n, 0), body, depth + 1),
             y = coefficient_in(f_.operand(n, 1), body, depth + 1);
  if (!x || !y) return {};
  if (!is_sum) return *x == 0 && *y == 0 ? std::optional(0) : std::nullopt;
  int const both = code == ir::op::add ? *x + *y : *x - *y;
  return both < -1 || both > 1 ? std::nullopt : std::optional(both);
}
// Such a value at index 0, computed before the loop.
llvm::Value* function_compiler::base_in(value_id v, region_id body) {
  if (v == f_.argument(body, 0)) return integer(0);
  if (f_.is_literal(v)) return literal(v);
  if (!ir::is_defined_in(f_, v, body) || f_.is_argument(v)) return scalar(v);
  node_id const n = f_.node_of(v);
  return integral(f_[n].code, {base_in(f_.operand(n, 0), body), base_in(f_.operand(n, 1), body)});
}
// A value as base + coefficient * (index of the loop with this body).
std::optional<function_compiler::affine> function_compiler::affine_in(value_id v, region_id body) {
  auto const coefficient = coefficient_in(v, body);
  if (!coefficient) return {};
  return affine{base_in(v, body), *coefficient};
}

// Whether a body has neither loops nor calls.
bool function_compiler::is_simple(region_id body, std::uint32_t& size) const {
  for (node_id const n : f_.nodes_of(body)) {
    ++size;
    ir::op const code = f_[n].code;
    if (code == ir::op::if_) {
      for (region_id const r : f_.regions_of(n))
        if (!is_simple(r, size)) return false;
    } else if (
        !ir::is_elementwise(code) && code != ir::op::convert && code != ir::op::at &&
        code != ir::op::update && code != ir::op::length && code != ir::op::yield && code != ir::op::add_to)
      return false;
  }
  return size < 200;
}

// The hoisted checks of a loop with trip count `count`; nothing if other checks remain.
std::optional<function_compiler::hoisted_checks>
function_compiler::hoist_checks(region_id body, llvm::Value* count) {
  std::uint32_t size = 0;
  if (shared_.is_repeatable) look_ahead(body, count);
  if (handler_ || !is_simple(body, size)) return {};
  hoisted_checks made;
  bool complete = true;
  auto const look = [&](node_id n, std::uint32_t indices) {
    value_id array = f_.operand(n, 0);
    bool needed = false;
    std::vector<std::pair<affine, std::uint32_t>> all;
    for (std::uint32_t k = 0; k < indices; ++k) {
      if (is_checked(n, k)) continue;
      auto const i = affine_in(f_.operand(n, 1 + k), body);
      if (!i) return void(complete = false);
      all.push_back({*i, k});
      needed = true;
    }
    if (!needed) return;
    // Arrays created in the loop vary in size, except loop-carried ones that are updated in place.
    if (value_id const carried = before_updates(array); in_place_[index_of(carried)])
      array = carried;
    else
      for (region_id r = f_.region_of(array); f_[r].parent != ir::nothing; r = f_[f_[r].parent].parent)
        if (r == body) return void(complete = false);
    value const a = get(array);
    for (auto const& [i, k] : all) {
      llvm::Value* const extent = a.extent(k);
      llvm::Value* good;
      if (i.coefficient == 0)
        good = b_.CreateICmpULT(i.base, extent);
      else if (i.coefficient < 0) // base - count + 1, ..., base
        good = b_.CreateAnd(
            b_.CreateICmpULT(i.base, extent), b_.CreateICmpSGE(i.base, b_.CreateSub(count, integer(1))));
      else
        good = b_.CreateAnd(
            b_.CreateICmpSLE(count, extent), b_.CreateICmpULE(i.base, b_.CreateSub(extent, count)));
      made.holds = made.holds == nullptr ? good : b_.CreateAnd(made.holds, good);
    }
    made.accesses.push_back(n);
  };
  std::vector<region_id> regions{body};
  while (!regions.empty()) {
    region_id const r = regions.back();
    regions.pop_back();
    for (node_id const n : f_.nodes_of(r)) {
      for (region_id const inner : f_.regions_of(n)) regions.push_back(inner);
      ir::op const code = f_[n].code;
      if (code == ir::op::at) look(n, f_[n].operand_count - 1);
      if (code == ir::op::update || code == ir::op::add_to) look(n, f_[n].operand_count - 2);
    }
  }
  if (!complete && made.accesses.empty()) return {};
  made.complete = complete;
  return made;
}

void function_compiler::set_unchecked(hoisted_checks const& c, bool is) {
  for (node_id const n : c.accesses) unchecked_[index_of(n)] = is;
}

parts function_compiler::joined(parts const& a, block from_a, parts const& b, block from_b) {
  parts all;
  for (std::size_t k = 0; k < a.size(); ++k) {
    auto* const either = b_.CreatePHI(a[k]->getType(), 2);
    either->addIncoming(a[k], from_a);
    either->addIncoming(b[k], from_b);
    all.push_back(either);
  }
  return all;
}

} // namespace overdub::jit
