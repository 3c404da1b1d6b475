// What is done to programs before they are differentiated.
#pragma once

#include <overdub/ir/cursor.hpp>
#include <overdub/ir/zero_value.hpp>
#include <overdub/pass/pipeline.hpp>

#include <span>

namespace overdub::contexts::adjoint {

// What is not needed, or there twice, is gone.
inline void tidy(ir::program& p) {
  for (char const* const name : {"fold", "simplify", "cse", "fuse", "simplify", "cse", "dce"})
    (void)pass::find_pass(name)->run(p);
}

// What is gone needs no adjoint. Nothing is moved out of loops that may not run: its derivative may be
// infinite where it is not needed.
inline void prepare(ir::program& p) {
  pass::inline_calls(p);
  if (pass::choose_functions(p) + pass::defunctionalise(p) > 0) pass::inline_calls(p);
  tidy(p);
}

} // namespace overdub::contexts::adjoint
