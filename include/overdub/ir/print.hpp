// The text of programs, from which parse.hpp makes an equal program again. docs/ir.md has the grammar.
#pragma once

#include <overdub/header_only.hpp>
#include <overdub/ir/program.hpp>

#include <string>

namespace overdub::ir {

struct print_options {
  bool places = false; // where operations and functions stand in the user's source
};

/// The text of a program. Equal programs whose values have the same names have equal texts, and parse(print(p)) == p for
/// valid programs; others are printed as well as can be. O(program + text).
OVERDUB_DECL std::string print(program const& p, print_options const& options = {});

/// The text of one function. O(texts of the program + function).
OVERDUB_DECL std::string print(program const& p, function_id f, print_options const& options = {});

} // namespace overdub::ir

#if OVERDUB_HEADER_ONLY
#include <overdub/ir/print.ipp>
#endif
