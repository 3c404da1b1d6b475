// The forward-mode transformation of programs: `overdub(forward{}, program)`, compiled with the library.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/ir/program.hpp>

namespace overdub {

/// Transforms a program: each number among its parameters and results is followed by its tangent. Throws evaluation_error.
/// O(operations).
ir::program forward_of(ir::program const& p);

} // namespace overdub
