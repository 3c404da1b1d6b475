// inline_calls: replaces calls of small functions, and of functions with a single call site, by their bodies. Does not inline recursive
// functions, and functions with derivative rules. In a program with an entry, erases functions without callers, except for some that
// derivative rules call.
// Requires a valid program. Preserves semantics. Not idempotent: inlining may leave a function with a single call site, which the next run
// inlines. Never raises the estimated run time (cost.hpp).
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/ir/program.hpp>

#include <cstddef>

namespace overdub::pass {

/// Functions of at most `small` operations are inlined at every call. Returns the number of inlined calls. O(operations,
/// and those copied).
std::size_t inline_calls(ir::program& p, std::size_t small = 24);

} // namespace overdub::pass
