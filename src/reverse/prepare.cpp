#include <overdub/implementation/reverse/prepare.hpp>

namespace overdub::adjoint {

void tidy(ir::program& p) {
  for (char const* const name : {"fold", "simplify", "cse", "fuse", "simplify", "cse", "dce"})
    (void)pass::find_pass(name)->run(p);
}

void prepare(ir::program& p) {
  pass::inline_calls(p);
  if (pass::choose_functions(p) + pass::defunctionalise(p) > 0) pass::inline_calls(p);
  tidy(p);
}

} // namespace overdub::adjoint
