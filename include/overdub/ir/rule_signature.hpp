// The signatures of the functions of derivative rules.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/ir/derivative.hpp>

#include <span>
#include <vector>

namespace overdub::ir {

/// The parameters and results of a rule's function.
struct rule_signature {
  std::vector<type> parameters;
  std::vector<type> results;
  bool operator==(rule_signature const&) const = default;
};

/// A tangent rule takes the function's results, its parameters, and a tangent for each differentiable parameter. It returns
/// a tangent for each differentiable result, and is linear in the tangents. O(their number).
rule_signature tangent_signature(std::span<type const> parameters, std::span<type const> results);
/// A cotangent rule takes the function's results, its parameters, and a cotangent for each differentiable result. It
/// returns one for each differentiable parameter, and is linear in the cotangents. O(their number).
rule_signature cotangent_signature(std::span<type const> parameters, std::span<type const> results);

} // namespace overdub::ir
