#include <overdub/implementation/reverse/prepare.hpp>

#include <cstddef>

namespace overdub::adjoint {

void tidy(ir::program& p) {
  pass::pass_runner const run(p);
  for (char const* const name : {"fold", "simplify", "cse", "fuse", "simplify", "cse", "dce"}) run(name);
}

void prepare(ir::program& p) {
  pass::pass_runner const run(p);
  run("inline_calls");
  std::size_t changes = run("choose_functions");
  changes += run("defunctionalise");
  if (changes > 0) run("inline_calls");
  tidy(p);
}

} // namespace overdub::adjoint
