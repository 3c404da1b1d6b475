// forget_derivatives: drops the derivative rules of functions, so that functions can be inlined, and rules erased.
// Requires a valid program that will not be differentiated again. Preserves semantics. Idempotent. Does not change the
// cost.
#pragma once

#include <overdub/pass/ir_names.hpp>

#include <cstddef>

namespace overdub::pass {

/// Whether a function has a derivative rule. O(functions).
inline bool has_derivatives(program const& p) {
  for (function const& f : p.functions)
    if (f.derivative.how != ir::derivative::by::body) return true;
  return false;
}

/// Returns how many functions had a rule. O(functions).
inline std::size_t forget_derivatives(program& p) {
  std::size_t changes = 0;
  for (function& f : p.functions) {
    if (f.derivative.how == ir::derivative::by::body) continue;
    f.derivative = {};
    ++changes;
  }
  return changes;
}

} // namespace overdub::pass
