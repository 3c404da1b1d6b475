// The text of types: f64[], acc f64[], fn(f64, i64) -> f64.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/ir/program.hpp>

#include <string>

namespace overdub::ir {

/// Appends a type. O(its length).
void append_type(std::string& out, program const& p, type t);

/// The text of a type. O(its length).
std::string text_of(program const& p, type t);

} // namespace overdub::ir
