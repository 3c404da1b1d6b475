#pragma once

#include <overdub/contexts/forward.hpp>
#include <overdub/contexts/forward_program.hpp>
#include <overdub/stage/evaluate.hpp>

namespace overdub::contexts {

OVERDUB_DECL ir::program forward_of(ir::program const& p) { return overdub::overdub(forward{}, p); }

} // namespace overdub::contexts
