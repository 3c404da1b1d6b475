#include "affine_index.hpp"

#include "scalars.hpp"

#include <overdub/implementation/ir/affine.hpp>
#include <overdub/implementation/ir/operands.hpp>
#include <overdub/ir/regions.hpp>

#include <cstdint>

namespace overdub::jit {

std::optional<int> coefficient_in(ir::function const& f, value_id v, region_id body) {
  auto const known = [&](value_id x) -> std::optional<ir::affine> {
    if (x == f.argument(body, 0)) return ir::affine::counter();
    // The index of a nested loop is uniform over the elements that are vectorised together.
    if (!ir::is_defined_in(f, x, body) || ir::is_iteration_index(f, x)) return ir::affine::invariant(x);
    return {};
  };
  auto const found = ir::affine_of(f, v, known);
  if (!found || !found->scale.is_literal()) return {};
  std::int64_t const scale = found->scale.literal;
  return scale < -1 || scale > 1 ? std::nullopt : std::optional(static_cast<int>(scale));
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
