// From the text of a program to the program: what print.hpp writes, and what is written by hand. docs/ir.md has the grammar.
#pragma once

#include <overdub/header_only.hpp>
#include <overdub/ir/error.hpp>
#include <overdub/ir/program.hpp>

#include <string_view>

namespace overdub::ir {

struct parse_options {
  std::string_view file; // not empty: what names no place stands where it does in the text, in this file
};

/// The program that a text is. Throws parse_error with what is wrong: at most 20 things, each with its line and column.
/// What is not a matter of the text is left to the verifier. O(text); thread-safe.
OVERDUB_DECL program parse(std::string_view text, parse_options const& options = {});

} // namespace overdub::ir

#if OVERDUB_HEADER_ONLY
#include <overdub/ir/parse.ipp>
#endif
