// The derivative rule of a function.
#pragma once

#include <overdub/ir/id.hpp>
#include <overdub/ir/type.hpp>

#include <cstdint>

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

} // namespace overdub::ir
