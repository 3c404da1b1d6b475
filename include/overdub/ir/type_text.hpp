// The text of types: f64[] is an array, acc f64[] an accumulator, and fn(f64, i64) -> f64 a function.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/ir/program.hpp>

#include <string>

namespace overdub::ir {

/// Appends the text of a type of the program, which has the signatures of functions and the names of opaque types. O(length of the text).
void append_type(std::string& out, program const& p, type t);

/// The text of a type. O(length of the text).
std::string text_of(program const& p, type t);

} // namespace overdub::ir
