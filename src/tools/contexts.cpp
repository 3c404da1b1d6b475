#include "contexts.hpp"

#include <array>

namespace overdub::tools {

std::span<context_row const> contexts() {
#if OVERDUB_TOOLS_CONTEXTS
  static constexpr std::array rows{
      context_row{"forward", "differentiates: each number is followed by its tangent", in_forward},
      context_row{
          "fast_math", "replaces sin, cos, exp and tanh of f64 by polynomials of ten digits", in_fast_math},
      context_row{
          "reverse", "adds the gradient of each function: it takes a cotangent for each result", in_reverse},
      context_row{"count", "counts calls of functions and operations, when the program is run", in_count},
  };
  return rows;
#else
  return {};
#endif
}

} // namespace overdub::tools
