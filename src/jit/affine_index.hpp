// Indices base + coefficient * i, modulo 2^64, where i is the index of a loop and the base is loop-invariant: what vectorised loops need of
// ir/affine.hpp. Code that reads elements at such indices checks the ends of their range (bounds_checks.hpp).
#pragma once

#include "function.hpp"

#include <optional>

namespace overdub::jit {

/// The coefficient of a value in the index of the loop with this body, if it is -1, 0 or 1.
std::optional<int> coefficient_in(ir::function const& f, value_id v, region_id body);
/// Whether an access reads contiguous elements in the iterations of the loop, or the same element in all.
bool is_read_in_line(ir::function const& f, node_id n, region_id body);

/// Emits the value of such an index at i = 0, outside of the loop.
llvm::Value* base_in(function_state&, value_id v, region_id body);

} // namespace overdub::jit
