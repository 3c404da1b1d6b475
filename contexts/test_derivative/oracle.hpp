// The oracle of derivatives: a function and what is claimed of its derivative, forwards, backwards and nested, in the direct way and
// as programs, against differences.
#pragma once

#include <overdub/contexts/test_derivative/report.hpp>
#include <overdub/execute/datum.hpp>
#include <overdub/header_only.hpp>
#include <overdub/ir/program.hpp>

#include <functional>
#include <vector>

namespace overdub::contexts::oracle {

using leaf_list = std::vector<datum>;

/// A function, on the leaves of its arguments. A direction has a datum for each leaf of them; what has no derivative in it is not
/// looked at.
struct subject {
  ir::program program;
  leaf_list inputs;
  std::function<leaf_list(leaf_list const& x)> value;
  std::function<leaf_list(leaf_list const& x, leaf_list const& along)>
      tangents; // of the results that have some
  std::function<leaf_list(leaf_list const& x, leaf_list const& a, leaf_list const& b)>
      second; // how the tangents along a change along b
  std::function<leaf_list(leaf_list const& x, leaf_list const& along)>
      reference; // the right tangents, where they are known; or none
};

/// Compares. Throws nothing but std::bad_alloc: what the function throws is a failure.
OVERDUB_DECL derivative_report check(subject const& s, derivative_test const& how);

/// A cotangent for results like these.
OVERDUB_DECL leaf_list cotangent_like(leaf_list const& results, std::uint64_t seed);

} // namespace overdub::contexts::oracle

namespace overdub::contexts {

/// The same for the entry of a program: its forward and reverse derivatives, once and nested, against differences of what it
/// computes. `reference`, of the arguments and a direction, gives the tangents where they are known. Throws nothing but
/// std::bad_alloc.
OVERDUB_DECL derivative_report test_derivative(
    ir::program const& p, std::vector<datum> const& inputs, derivative_test const& how = {},
    std::function<std::vector<datum>(std::vector<datum> const& x, std::vector<datum> const& along)> const&
        reference = {});

} // namespace overdub::contexts

#if OVERDUB_HEADER_ONLY
#include <overdub/contexts/test_derivative/oracle.ipp>
#endif
