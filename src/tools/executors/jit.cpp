#include "../executors.hpp"

#if OVERDUB_TOOLS_JIT
#include <overdub/jit/jit.hpp>

namespace overdub::tools {

std::vector<datum> run_by_jit(ir::program const& p, ir::function_id f, std::span<datum const> arguments) {
  return jit::compile(p, f).run(arguments);
}

} // namespace overdub::tools
#endif
