// The text of types: f64[], acc f64[], fn(f64, i64) -> f64.
#pragma once

#include <overdub/header_only.hpp>
#include <overdub/ir/program.hpp>

#include <string>

namespace overdub::ir {

/// Appends a type. O(its length).
OVERDUB_DECL void append_type(std::string& out, program const& p, type t);

/// The text of a type. O(its length).
OVERDUB_DECL std::string text_of(program const& p, type t);

} // namespace overdub::ir

#if OVERDUB_HEADER_ONLY
#include <overdub/ir/type_text.ipp>
#endif
