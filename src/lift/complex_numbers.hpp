// Products and quotients of complex numbers: the compiler calls functions of its library for them, which get definitions here, so that
// contexts see what they compute, and derivatives exist. They are those of libgcc: Annex G of C says what infinities and NaNs become, and
// quotients are computed as by M. Baudin and R. L. Smith, A robust complex division in Scilab, 2012, with the scaling of P. McGehearty.
#pragma once

#include <llvm/IR/Module.h>

namespace overdub::lifting {

/// Defines the functions of complex numbers that a module declares. Pairs of floats must have been split.
void define_complex_functions(llvm::Module& m);

} // namespace overdub::lifting
