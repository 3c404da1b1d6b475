// forward on programs: what `overdub(forward{}, program)` makes, compiled where the library is.
#pragma once

#include <overdub/header_only.hpp>
#include <overdub/ir/program.hpp>

namespace overdub::contexts {

/// The program in forward: each number among the parameters and results has its tangent behind it. Throws evaluation_error.
/// O(operations).
OVERDUB_DECL ir::program forward_of(ir::program const& p);

} // namespace overdub::contexts

#if OVERDUB_HEADER_ONLY
#include <overdub/contexts/forward_program.ipp>
#endif
