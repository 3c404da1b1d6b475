// What a function says of its own derivative, and of which types the functions are that it names for that.
#pragma once

#include <overdub/ir/id.hpp>
#include <overdub/ir/type.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace overdub::ir {

/// Whether values of a type have derivatives: floating-point numbers, and arrays of them.
constexpr bool is_differentiable(type t) { return t.element == scalar::f32 || t.element == scalar::f64; }

/// How calls of a function are differentiated: by its body, or as it says.
struct derivative {
  enum class by : std::uint8_t {
    body,
    rule, // by `tangent`, and backwards by `cotangent`, where it is given, or else by the transpose of `tangent`
    constant, // what it gives counts as a constant
    refused   // not at all: `why` says why
  };
  by how = by::body;
  function_id tangent = nothing;   // see tangent_signature
  function_id cotangent = nothing; // see cotangent_signature; nothing: none was given
  symbol why = nothing;            // a text of the program
};

/// The types that one of the functions takes, and gives.
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

/// A tangent takes the function's results, its parameters, and a tangent for each parameter that has derivatives; it gives a
/// tangent for each result that has. It is linear in the tangents. O(their number).
inline rule_signature tangent_signature(std::span<type const> parameters, std::span<type const> results) {
  rule_signature s;
  detail::append_all(s.parameters, results);
  detail::append_all(s.parameters, parameters);
  detail::append_differentiable(s.parameters, parameters);
  detail::append_differentiable(s.results, results);
  return s;
}
/// A cotangent takes the function's results, its parameters, and a cotangent for each result that has derivatives; it gives one
/// for each parameter that has. It is linear in the cotangents. O(their number).
inline rule_signature cotangent_signature(std::span<type const> parameters, std::span<type const> results) {
  rule_signature s;
  detail::append_all(s.parameters, results);
  detail::append_all(s.parameters, parameters);
  detail::append_differentiable(s.parameters, results);
  detail::append_differentiable(s.results, parameters);
  return s;
}

} // namespace overdub::ir
