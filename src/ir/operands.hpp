// What the operands of operations are.
#pragma once

#include <overdub/ir/function.hpp>

#include <cstdint>

namespace overdub::ir {

/// The operand whose type is that of the numbers that an element-wise operation computes with: another one is a condition, or an exponent.
constexpr std::uint32_t main_operand(op code) {
  type_rule const rule = row_of(code).types;
  return rule == type_rule::select || rule == type_rule::integer_floating ? 1 : 0;
}

/// The number of indices of an `at`, `update` or `add_to`: the operands behind the array. In the last two, the new value follows them.
inline std::uint32_t index_count(function const& f, node_id n) {
  return f[n].operand_count - (f[n].code == op::at ? 1 : 2);
}

} // namespace overdub::ir
