#include "../executors.hpp"

#include <overdub/stage/evaluate_data.hpp>

namespace overdub::tools {

std::vector<datum>
run_by_evaluate(ir::program const& p, ir::function_id f, std::span<datum const> arguments) {
  return evaluate(p, f, arguments);
}

} // namespace overdub::tools
