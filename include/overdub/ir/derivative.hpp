// The derivative rule of a function, and the signatures of the rule's functions.
#pragma once

#include <overdub/ir/id.hpp>
#include <overdub/ir/type.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace overdub::ir {

/// Whether values of a type are differentiable: floating-point numbers, and arrays of them.
constexpr bool is_differentiable(type t) { return t.element == scalar::f32 || t.element == scalar::f64; }

/// How calls of a function are differentiated: by its body, or by a rule.
struct derivative {
  enum class by : std::uint8_t {
    body,
    rule, // forward mode by `tangent`; reverse mode by `cotangent`, if given, else by the transpose of `tangent`
    constant, // the results are constants
    refused   // rejected, with the reason in `why`
  };
  by how = by::body;
  function_id tangent = nothing;   // see tangent_signature
  function_id cotangent = nothing; // see cotangent_signature; nothing: not given
  symbol why = nothing;            // a text of the program
};

/// The parameters and results of a rule's function.
struct rule_signature {
  std::vector<type> parameters;
  std::vector<type> results;
  bool operator==(rule_signature const&) const = default;
};

namespace detail {
inline void append_all(std::vector<type>& to, std::span<type const> types) {
  to.insert(to.end(), types.begin(), types.end());
}
inline void append_differentiable(std::vector<type>& to, std::span<type const> types) {
  for (type const t : types)
    if (is_differentiable(t)) to.push_back(t);
}
} // namespace detail

/// A tangent rule takes the function's results, its parameters, and a tangent for each differentiable parameter. It returns
/// a tangent for each differentiable result, and is linear in the tangents. O(their number).
inline rule_signature tangent_signature(std::span<type const> parameters, std::span<type const> results) {
  rule_signature s;
  detail::append_all(s.parameters, results);
  detail::append_all(s.parameters, parameters);
  detail::append_differentiable(s.parameters, parameters);
  detail::append_differentiable(s.results, results);
  return s;
}
/// A cotangent rule takes the function's results, its parameters, and a cotangent for each differentiable result. It
/// returns one for each differentiable parameter, and is linear in the cotangents. O(their number).
inline rule_signature cotangent_signature(std::span<type const> parameters, std::span<type const> results) {
  rule_signature s;
  detail::append_all(s.parameters, results);
  detail::append_all(s.parameters, parameters);
  detail::append_differentiable(s.parameters, results);
  detail::append_differentiable(s.results, parameters);
  return s;
}

} // namespace overdub::ir
