// What the operands of operations are.
#pragma once

#include <overdub/ir/function.hpp>

#include <cstdint>

namespace overdub::ir {

/// The number of indices of an `at`, `update` or `add_to`: the operands after the array. In the last two, the new value follows them.
inline std::uint32_t index_count(function const& f, node_id n) {
  return f[n].operand_count - (f[n].code == op::at ? 1 : 2);
}

} // namespace overdub::ir
