// Errors in programs and in their texts, with locations.
#pragma once

#include <overdub/core/error.hpp>
#include <overdub/ir/id.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace overdub {

/// A program cannot be differentiated: the message says what has no derivative, and where.
struct OVERDUB_EXPORTED differentiation_error : rejected_program {
  using rejected_program::rejected_program;
};

} // namespace overdub

namespace overdub::ir {
namespace detail {

// 1 operand, 2 operands
inline std::string counted(std::size_t n, std::string_view what) {
  return std::to_string(n) + " " + std::string(what) + (n == 1 ? "" : "s");
}

} // namespace detail

/// One error.
struct diagnostic {
  std::string text;         // a sentence: what was found, what was expected
  std::uint32_t line = 0;   // in the text, from 1; 0: the program was not read from a text
  std::uint32_t column = 0; // from 1
  function_id where = nothing;
  node_id at = nothing;
};

/// An invalid program, or a text that does not parse. `what()` has the first error, `diagnostics` has all.
struct OVERDUB_EXPORTED invalid_program : rejected_program {
  explicit invalid_program(std::vector<diagnostic> found)
      : rejected_program(first(found)), diagnostics(std::move(found)) {}
  std::vector<diagnostic> diagnostics;

private:
  static message first(std::vector<diagnostic> const& found) {
    if (found.empty()) return message("overdub: the program is not valid");
    auto const& d = found.front();
    if (d.line == 0) return message("overdub: %s", d.text.c_str());
    return message("overdub: %u:%u: %s", d.line, d.column, d.text.c_str());
  }
};

/// A text that does not parse: lines, columns, and what was expected there.
struct OVERDUB_EXPORTED parse_error : invalid_program {
  using invalid_program::invalid_program;
};

/// A program that breaks a rule of the verifier.
struct OVERDUB_EXPORTED verify_error : invalid_program {
  using invalid_program::invalid_program;
};

} // namespace overdub::ir
