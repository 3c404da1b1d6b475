#include "../contexts.hpp"

#include <overdub/contexts/forward_program.hpp>

namespace overdub::tools {

ir::program in_forward(ir::program const& p, observed&) { return overdub::contexts::forward_of(p); }

} // namespace overdub::tools
