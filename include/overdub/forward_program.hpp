// The forward-mode transformation of programs: `overdub(forward{}, program)`, compiled with the library.
#pragma once

#include <overdub/header_only.hpp>
#include <overdub/ir/program.hpp>

namespace overdub {

/// Transforms a program: each number among its parameters and results is followed by its tangent. Throws evaluation_error.
/// O(operations).
OVERDUB_DECL ir::program forward_of(ir::program const& p);

} // namespace overdub

#if OVERDUB_HEADER_ONLY
#include <overdub/forward_program.ipp>
#endif
