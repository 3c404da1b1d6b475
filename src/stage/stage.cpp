#include <overdub/stage/stage.hpp>

namespace overdub::detail {

void enter_callee(ir::program& p) {
  ir::function_id const callee = only_callee(p, p.entry);
  if (callee == ir::nothing) return;
  p.erase(p.entry);
  p.entry = callee;
}

} // namespace overdub::detail
