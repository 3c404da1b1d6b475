#include "../contexts.hpp"

#include <overdub/contexts/forward.hpp>
#include <overdub/stage/evaluate.hpp>

namespace overdub::tools {

ir::program in_forward(ir::program const& p, observed&) { return overdub(overdub::contexts::forward{}, p); }

} // namespace overdub::tools
