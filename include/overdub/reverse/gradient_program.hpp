// Reverse differentiation of programs: a function becomes one that computes its gradient.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/ir/error.hpp>
#include <overdub/ir/program.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace overdub {

using overdub::differentiation_error;

/// The requested part of a function's derivative.
struct gradient_request {
  std::vector<bool> inputs;    // the parameters to differentiate by
  std::vector<bool> results;   // the results that have cotangents
  bool returns_results = true; // whether to return the results, too

  friend bool operator==(gradient_request const&, gradient_request const&) = default;
};

/// The residuals of a recursive function: function values, one for each call; or none, so that each call is recomputed, and
/// a depth of n takes n² calls. A program with function values that hold one another without bound cannot be differentiated
/// again.
enum class recursion { saved, recomputed };

/// What outermost counted loops save for the backward pass: all that is cheapest in time, where memory grows with the trip
/// count; or checkpoints of their loop-carried values, from which the iterations between are recomputed (Griewank).
struct checkpointing {
  enum class strategy { none, memory_limit, logarithmic };

  strategy kind = strategy::none;
  std::int64_t bytes = 0; // memory_limit: of all such loops together
};

struct gradient_options {
  recursion calls = recursion::saved;
  checkpointing loops = {};
};

/// Adds the gradient of a function, and those of its callees, to the program. The gradient takes the function's parameters,
/// and a cotangent for each requested result. It returns the results, if requested, and a cotangent for each requested
/// input. Apart from the residuals of loops, its memory does not grow with trip counts. Throws differentiation_error.
/// O(operations, times how deep they are nested).
ir::function_id add_gradient(
    ir::program& p, ir::function_id f, gradient_request const& wanted, gradient_options const& options = {});

/// Replaces the entry, a function that returns one floating-point number, by its gradient: the derivatives by the requested
/// parameters, in order; 0, or an empty array, for those that are not differentiable; preceded by the value, if requested.
/// Throws differentiation_error. O(operations, times how deep they are nested).
void differentiate_entry(
    ir::program& p, std::vector<bool> const& requested, bool returns_value,
    gradient_options const& options = {});

/// Replaces the entry by its vector-Jacobian product: it takes a cotangent for each result after its parameters, and
/// returns the cotangents of the parameters; zeros for those that are not differentiable.
void transpose_entry(ir::program& p, gradient_options const& options = {});

/// Replaces the entry, a function from an array to an array, by its Jacobian: a row for each result.
void take_jacobian(ir::program& p, gradient_options const& options = {});

} // namespace overdub
