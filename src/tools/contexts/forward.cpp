#include "../contexts.hpp"

#include <overdub/forward_program.hpp>

namespace overdub::tools {

ir::program in_forward(ir::program const& p, observed&) { return overdub::forward_of(p); }

} // namespace overdub::tools
