// Exceptions that a function catches. What may throw them is inlined into the function, so that the type of each exception is known where it
// is thrown, and the exception becomes a branch to its handler. An exception that leaves the function is an error of the run, as are the
// errors of programs, such as a division by zero: no handler catches these.
#pragma once

#include <llvm/IR/Module.h>

namespace overdub::lifting {

/// Replaces exceptions by branches, in functions that may return after they catch one. A function where that is not possible keeps calls with
/// handlers, and is refused. Functions must be as clang writes them, before optimisation.
void resolve_exceptions(llvm::Module& m);

} // namespace overdub::lifting
