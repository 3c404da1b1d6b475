#include "../executors.hpp"

#include <overdub/execute/interpreter.hpp>

namespace overdub::tools {

std::vector<datum>
run_by_interpreter(ir::program const& p, ir::function_id f, std::span<datum const> arguments) {
  return executable(p, f).run(arguments);
}

} // namespace overdub::tools
