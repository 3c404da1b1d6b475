// Prints programs; parse.hpp reads the text back to an equal program. docs/ir.md has the grammar.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/ir/program.hpp>

#include <string>

namespace overdub::ir {

struct print_options {
  bool places = false; // the source locations of operations and functions
};

/// The text of a program. Equal programs whose values have equal names have equal texts, and parse(print(p)) == p for valid
/// programs; invalid ones are printed as far as possible. O(program + text).
std::string print(program const& p, print_options const& options = {});

/// The text of one function. O(texts of the program + function).
std::string print(program const& p, function_id f, print_options const& options = {});

} // namespace overdub::ir
