// Zero values of any type.
#pragma once

#include <overdub/ir/cursor.hpp>

namespace overdub::ir {

/// 0, false, or an empty array, of this type.
inline value_id zero_value(cursor& at, type t) {
  if (t.rank == 0) return at.literal(t, 0);
  return at->result(at.insert(op::array, {}, std::span<type const>(&t, 1)));
}

} // namespace overdub::ir
