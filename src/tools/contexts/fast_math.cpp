#include "../contexts.hpp"

#include <overdub/contexts/fast_math.hpp>
#include <overdub/stage/evaluate.hpp>

namespace overdub::tools {

ir::program in_fast_math(ir::program const& p, observed&) {
  return overdub(overdub::contexts::fast_math{}, p);
}

} // namespace overdub::tools
