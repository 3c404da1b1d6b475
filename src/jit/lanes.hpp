// Vectors of eight elements, and the eight interleaved partial sums of floating-point numbers. The order of a sum's
// operations is part of its meaning (control/reduce.hpp).
#pragma once

#include "emitter.hpp"

namespace overdub::jit {

/// A scalar in eight lanes.
llvm::Value* splat(emitter&, llvm::Value* x);
/// 0, 1, ..., 7.
llvm::Constant* first_integers(emitter&);

/// Empty partial sums: -0.0 is the identity of addition.
llvm::Value* no_lanes(emitter&, ir::scalar s);
/// The sum of eight partial sums.
llvm::Value* fold_lanes(emitter&, llvm::Value* lanes);
/// The same for partial sums in memory.
llvm::Value* fold_stored_lanes(emitter&, ir::scalar s, llvm::Value* lanes);
/// The sum of an array of at least one floating-point number.
llvm::Value* sum_of_array(emitter&, ir::scalar s, llvm::Value* elements, llvm::Value* n);

} // namespace overdub::jit
