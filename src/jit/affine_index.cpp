#include "affine_index.hpp"

#include "scalars.hpp"

#include <overdub/implementation/ir/operands.hpp>
#include <overdub/ir/regions.hpp>

namespace overdub::jit {
namespace {

std::optional<int> coefficient_at(ir::function const& f, value_id v, region_id body, int depth) {
  if (v == f.argument(body, 0)) return 1;
  if (!ir::is_defined_in(f, v, body)) return 0;
  // The index of a nested loop, if it is uniform over the elements that are vectorised together.
  if (f.is_argument(v)) return ir::is_iteration_index(f, v) ? std::optional(0) : std::nullopt;
  if (!f.is_result(v) || depth > 8 || f.type_of(v) != ir::i64) return {};
  node_id const n = f.node_of(v);
  ir::op const code = f[n].code;
  bool const is_sum = code == ir::op::add || code == ir::op::sub;
  bool const divides =
      code == ir::op::div && f.is_literal(f.operand(n, 1)) && f.bits_of(f.operand(n, 1)) != 0;
  if (!is_sum && code != ir::op::mul && !divides) return {};
  auto const x = coefficient_at(f, f.operand(n, 0), body, depth + 1),
             y = coefficient_at(f, f.operand(n, 1), body, depth + 1);
  if (!x || !y) return {};
  if (!is_sum) return *x == 0 && *y == 0 ? std::optional(0) : std::nullopt;
  int const both = code == ir::op::add ? *x + *y : *x - *y;
  return both < -1 || both > 1 ? std::nullopt : std::optional(both);
}

} // namespace

std::optional<int> coefficient_in(ir::function const& f, value_id v, region_id body) {
  return coefficient_at(f, v, body, 0);
}

bool is_read_in_line(ir::function const& f, node_id n, region_id body) {
  std::uint32_t const indices = ir::index_count(f, n);
  for (std::uint32_t k = 0; k < indices; ++k) {
    auto const coefficient = coefficient_in(f, f.operand(n, 1 + k), body);
    if (!coefficient || (*coefficient != 0 && k + 1 < indices)) return false;
  }
  return true;
}

llvm::Value* base_in(function_state& fn, value_id v, region_id body) {
  if (v == fn.f.argument(body, 0)) return fn.e.integer(0);
  if (fn.f.is_literal(v)) return fn.literal(v);
  if (!ir::is_defined_in(fn.f, v, body) || fn.f.is_argument(v)) return fn.scalar(v);
  node_id const n = fn.f.node_of(v);
  return integral(
      fn, fn.f[n].code, {base_in(fn, fn.f.operand(n, 0), body), base_in(fn, fn.f.operand(n, 1), body)});
}

} // namespace overdub::jit
