// The oracle of derivatives: compares the derivatives of a function in forward mode, in reverse mode and nested, in direct runs and in
// programs, with finite differences.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/execute/datum.hpp>
#include <overdub/ir/program.hpp>
#include <overdub/test_derivative/report.hpp>

#include <functional>
#include <vector>

namespace overdub::oracle {

using leaf_list = std::vector<datum>;

/// A function of the leaves of its arguments. A direction has a datum for each leaf; those of leaves without a derivative are ignored.
struct subject {
  ir::program program;
  leaf_list inputs;
  std::function<leaf_list(leaf_list const& x)> value;
  std::function<leaf_list(leaf_list const& x, leaf_list const& along)>
      tangents; // of the results that have tangents, for the direction `along`
  std::function<leaf_list(leaf_list const& x, leaf_list const& a, leaf_list const& b)>
      second; // the derivative of the tangents for a in the direction b
  std::function<leaf_list(leaf_list const& x, leaf_list const& along)>
      reference; // the correct tangents, if they are known; or null
};

/// Compares the derivatives. Throws only std::bad_alloc: exceptions of the function are failures.
derivative_report check(subject const& s, derivative_test const& how);

/// A random cotangent for these results.
leaf_list cotangent_like(leaf_list const& results, std::uint64_t seed);

} // namespace overdub::oracle

namespace overdub {

/// Tests the derivatives of the entry of a program: compares forward mode, reverse mode and nested derivatives with finite differences.
/// If `reference` is given, it must return the tangents for arguments and a direction. Throws only std::bad_alloc.
derivative_report test_derivative(
    ir::program const& p, std::vector<datum> const& inputs, derivative_test const& how = {},
    std::function<std::vector<datum>(std::vector<datum> const& x, std::vector<datum> const& along)> const&
        reference = {});

} // namespace overdub
