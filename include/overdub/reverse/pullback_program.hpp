// A function split into its passes: the forward pass returns the results and the residuals, the backward pass consumes the
// residuals.
#pragma once

#include <overdub/reverse/gradient_program.hpp>

namespace overdub {

/// Replaces the entry by its forward pass, which returns the residuals after its results. Recursive calls are recomputed,
/// since their residuals would be function values. Throws differentiation_error. O(operations, times how deep they are
/// nested).
void to_forward_pass(ir::program& p);

/// Replaces the entry by its backward pass, which takes the residuals, then a cotangent for each result, and returns a
/// cotangent for each parameter; 0, or an empty array, for those that are not differentiable.
void to_backward_pass(ir::program& p);

} // namespace overdub
