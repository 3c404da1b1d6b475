#include <overdub/pass/forget_derivatives.hpp>

#include <cstddef>

namespace overdub::pass {

bool has_derivatives(program const& p) {
  for (function const& f : p.functions)
    if (f.derivative.how != ir::derivative::by::body) return true;
  return false;
}

std::size_t forget_derivatives(program& p) {
  std::size_t changes = 0;
  for (function& f : p.functions) {
    if (f.derivative.how == ir::derivative::by::body) continue;
    f.derivative = {};
    ++changes;
  }
  return changes;
}

} // namespace overdub::pass
