// The passes that run before differentiation.
#pragma once

#include <overdub/implementation/ir/zero_value.hpp>
#include <overdub/ir/cursor.hpp>
#include <overdub/pass/pipeline.hpp>

namespace overdub::adjoint {

// Dead-code and common-subexpression elimination.
void tidy(ir::program& p);

// Dead code needs no adjoint. Nothing is hoisted out of loops that may run no iteration: its derivative may be infinite
// there.
void prepare(ir::program& p);

} // namespace overdub::adjoint
