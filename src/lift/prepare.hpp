// Brings the functions of a module into the form that analyses expect.
#pragma once

#include <llvm/IR/Module.h>

namespace overdub::lifting {

/// Scalars in registers, two-way branches, no critical edges, no unreachable blocks, no aliases of functions. Floating-point operations are
/// not changed. O(instructions).
void prepare(llvm::Module& m);

} // namespace overdub::lifting
