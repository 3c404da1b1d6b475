// forget_derivatives: drops the derivative rules of functions, so that functions can be inlined, and rules erased.
// Requires a valid program that will not be differentiated again. Preserves semantics. Idempotent. Does not change the
// cost.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/pass/ir_names.hpp>

#include <cstddef>

namespace overdub::pass {

/// Whether a function has a derivative rule. O(functions).
bool has_derivatives(program const& p);

/// Returns how many functions had a rule. O(functions).
std::size_t forget_derivatives(program& p);

} // namespace overdub::pass
