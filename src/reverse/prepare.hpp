// The passes that run before differentiation.
#pragma once

#include <overdub/implementation/ir/zero_value.hpp>
#include <overdub/ir/cursor.hpp>
#include <overdub/pass/pipeline.hpp>

#include <span>

namespace overdub::adjoint {

// Dead-code and common-subexpression elimination.
inline void tidy(ir::program& p) {
  for (char const* const name : {"fold", "simplify", "cse", "fuse", "simplify", "cse", "dce"})
    (void)pass::find_pass(name)->run(p);
}

// Dead code needs no adjoint. Nothing is hoisted out of loops that may run no iteration: its derivative may be infinite
// there.
inline void prepare(ir::program& p) {
  pass::inline_calls(p);
  if (pass::choose_functions(p) + pass::defunctionalise(p) > 0) pass::inline_calls(p);
  tidy(p);
}

} // namespace overdub::adjoint
