// Parses the text of a program, which print.hpp or a person wrote. docs/ir.md has the grammar.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/ir/error.hpp>
#include <overdub/ir/program.hpp>

#include <string_view>

namespace overdub::ir {

struct parse_options {
  // If not empty, operations without a source location get their location in the text, in this file.
  std::string_view file;
};

/// Parses a program. Throws parse_error with at most 20 errors, each with its line and column. Checks the syntax and types;
/// the verifier checks the rest. O(text); thread-safe.
program parse(std::string_view text, parse_options const& options = {});

} // namespace overdub::ir
