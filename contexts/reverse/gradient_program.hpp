// Reverse differentiation of programs: a function becomes one that computes its gradient.
#pragma once

#include <overdub/call/error.hpp>
#include <overdub/header_only.hpp>
#include <overdub/ir/program.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace overdub::contexts {

/// A program cannot be differentiated: says what has no derivative, and where.
struct differentiation_error : error {
  using error::error;
};

/// What of a function's derivative is wanted.
struct gradient_request {
  std::vector<bool> inputs;  // the parameters that it is differentiated by
  std::vector<bool> results; // the results whose cotangents are given
  bool keeps_results = true; // the results are returned, too

  friend bool operator==(gradient_request const&, gradient_request const&) = default;
};

/// Adds the gradient of a function to its program, and those of the functions that it calls: it takes the function's parameters,
/// and a cotangent for each result that is asked for; it returns the results, where they are kept, and a cotangent for each input.
/// Nothing in it grows with the number of turns of a loop but what loops keep of each turn. Throws differentiation_error.
/// O(operations, times how deep they are nested).
OVERDUB_DECL ir::function_id add_gradient(ir::program& p, ir::function_id f, gradient_request const& wanted);

/// The entry of a program gives one floating-point number, and becomes the function that gives its gradient: of the parameters
/// that are asked for, in order, 0 or an empty array for those that have no derivatives; behind its value, where that is kept.
/// Throws differentiation_error. O(operations, times how deep they are nested).
OVERDUB_DECL void differentiate_entry(ir::program& p, std::vector<bool> const& asked, bool keeps_value);

/// The entry of a program becomes the function that takes cotangents of its results behind its parameters, and gives those of its
/// parameters; zeros for those that have none.
OVERDUB_DECL void transpose_entry(ir::program& p);

/// The entry takes an array and gives one, and becomes the function that gives its Jacobian: a row for each result.
OVERDUB_DECL void take_jacobian(ir::program& p);

} // namespace overdub::contexts

#if OVERDUB_HEADER_ONLY
#include <overdub/contexts/reverse/gradient_program.ipp>
#endif
