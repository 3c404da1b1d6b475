// Reverse differentiation of programs: a function becomes one that computes its gradient.
#pragma once

#include <overdub/header_only.hpp>
#include <overdub/ir/error.hpp>
#include <overdub/ir/program.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace overdub::contexts {

using overdub::differentiation_error;

/// What of a function's derivative is wanted.
struct gradient_request {
  std::vector<bool> inputs;  // the parameters that it is differentiated by
  std::vector<bool> results; // the results whose cotangents are given
  bool keeps_results = true; // the results are returned, too

  friend bool operator==(gradient_request const&, gradient_request const&) = default;
};

/// What goes backwards through a function that calls itself: function values, which keep what each of its calls needs; or nothing
/// is kept, and each call is computed again, so that a depth of n takes n² calls. A program with function values cannot be
/// differentiated again, where they hold one another without an end.
enum class recursion { kept, computed_again };

/// What counted loops that stand in no other one keep for the way back: whatever is cheapest in time, and grows with the number of
/// turns; or only what they carry, of some turns, from which the others are computed again.
struct loop_storage {
  enum class amount { any, at_most, logarithmic };

  amount keeps = amount::any;
  std::int64_t bytes = 0; // at_most: of all such loops together
};

struct gradient_options {
  recursion calls = recursion::kept;
  loop_storage loops = {};
};

/// Adds the gradient of a function to its program, and those of the functions that it calls: it takes the function's parameters,
/// and a cotangent for each result that is asked for; it returns the results, where they are kept, and a cotangent for each input.
/// Nothing in it grows with the number of turns of a loop but what loops keep of each turn. Throws differentiation_error.
/// O(operations, times how deep they are nested).
OVERDUB_DECL ir::function_id add_gradient(
    ir::program& p, ir::function_id f, gradient_request const& wanted, gradient_options const& options = {});

/// The entry of a program gives one floating-point number, and becomes the function that gives its gradient: of the parameters
/// that are asked for, in order, 0 or an empty array for those that have no derivatives; behind its value, where that is kept.
/// Throws differentiation_error. O(operations, times how deep they are nested).
OVERDUB_DECL void differentiate_entry(
    ir::program& p, std::vector<bool> const& asked, bool keeps_value, gradient_options const& options = {});

/// The entry of a program becomes the function that takes cotangents of its results behind its parameters, and gives those of its
/// parameters; zeros for those that have none.
OVERDUB_DECL void transpose_entry(ir::program& p, gradient_options const& options = {});

/// The entry takes an array and gives one, and becomes the function that gives its Jacobian: a row for each result.
OVERDUB_DECL void take_jacobian(ir::program& p, gradient_options const& options = {});

} // namespace overdub::contexts

#if OVERDUB_HEADER_ONLY
#include <overdub/contexts/reverse/gradient_program.ipp>
#endif
