// Second derivatives of programs.
#pragma once

#include <overdub/header_only.hpp>
#include <overdub/ir/program.hpp>

namespace overdub::contexts {

/// The entry of a program takes a number or an array, gives one number, and becomes the function that gives its second derivative:
/// a row for each element. Throws differentiation_error, and what rewriting in `forward` throws.
OVERDUB_DECL void take_hessian(ir::program& p);

/// The entry becomes the function that takes a direction behind its parameters, and gives how the gradient changes along it.
OVERDUB_DECL void multiply_by_hessian(ir::program& p);

} // namespace overdub::contexts

#if OVERDUB_HEADER_ONLY
#include <overdub/contexts/reverse/hessian_program.ipp>
#endif
