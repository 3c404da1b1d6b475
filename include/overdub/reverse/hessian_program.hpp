// Second derivatives of programs: forward mode over reverse mode.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/ir/program.hpp>

namespace overdub {

/// Replaces the entry of a program, a function of one number or array that returns one number, by its second derivative: a
/// row for each element. Throws differentiation_error, and what rewriting in `forward` throws.
void take_hessian(ir::program& p);

/// Replaces the entry by its Hessian-vector product: the vector is an additional parameter for each parameter.
void multiply_by_hessian(ir::program& p);

} // namespace overdub
