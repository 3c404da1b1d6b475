// Bodies of loops in vectors: eight iterations at a time, each value a vector of eight or uniform.
#pragma once

#include "map_plan.hpp"
#include "outputs.hpp"

namespace overdub::jit {

/// A value of the body, as a vector.
llvm::Value* in_vector(function_state&, value_id v);
/// The elements that eight iterations read, from the one at `index` on: contiguous, reversed, or gathered.
llvm::Value* load_vector(function_state&, node_id n, region_id body, llvm::Value* index, llvm::Value* mask);
/// An element-wise operation, or a conversion.
void emit_in_vector(function_state&, node_id n);

/// Stores the elements of outputs, of scalars, that eight iterations yield, from the one at `index` on; with a mask,
/// only those of the mask.
void store_vectors(
    function_state&, std::vector<output> const& outputs, llvm::Value* index, llvm::Value* mask);
/// Adds what eight iterations yield to the lanes of sums. Returns the lanes.
parts add_vectors(
    function_state&, std::vector<summed> const& sums, llvm::ArrayRef<llvm::Value*> lanes, llvm::Value* mask);

} // namespace overdub::jit
