// forget_derivatives: functions no longer say how they are differentiated, so that they can be inlined, and their rules be dropped.
// Needs a valid program, which is not differentiated any more. Keeps everything that can be seen. Idempotent. Leaves the cost.
#pragma once

#include <overdub/pass/words.hpp>

#include <cstddef>

namespace overdub::pass {

/// Whether a function says how it is differentiated. O(functions).
inline bool has_derivatives(program const& p) {
  for (function const& f : p.functions)
    if (f.derivative.how != ir::derivative::by::body) return true;
  return false;
}

/// Returns how many functions said something. O(functions).
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
