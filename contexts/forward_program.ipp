#pragma once

#include <overdub/contexts/forward.hpp>
#include <overdub/contexts/forward_program.hpp>
#include <overdub/stage/evaluation_in_library.hpp>

namespace overdub::contexts {

OVERDUB_DECL ir::program forward_of(ir::program const& p) { return overdub::overdub(forward{}, p); }

} // namespace overdub::contexts

#if !OVERDUB_HEADER_ONLY
namespace overdub::detail {
OVERDUB_EVALUATE_IN_LIBRARY(forward_alone)
OVERDUB_EVALUATE_IN_LIBRARY(forward_of_symbols)
} // namespace overdub::detail
#endif
