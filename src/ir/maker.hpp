// The operation that defines a value.
#pragma once

#include <overdub/ir/function.hpp>

namespace overdub::ir {

/// The operation that defines a value, if it has this code; otherwise nothing. O(1).
inline node_id maker_of(function const& f, value_id v, op code) {
  return f.is_result(v) && f[f.node_of(v)].code == code ? f.node_of(v) : node_id(nothing);
}

} // namespace overdub::ir
