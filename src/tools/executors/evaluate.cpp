#include "../executors.hpp"

#include <overdub/stage/evaluate_data.hpp>

namespace overdub::tools {

std::vector<datum>
run_by_evaluate(ir::program const& p, ir::function_id f, std::span<datum const> arguments) {
  return evaluate(p, f, arguments);
}

std::vector<datum> run_by_evaluate(
    ir::program const& p, ir::function_id f, std::span<datum const> arguments, ir::place_id& thrown_at) {
  evaluation_place failed;
  try {
    return evaluate(p, f, arguments, &failed);
  } catch (...) {
    if (failed.operation != ir::nothing) thrown_at = p[failed.function][failed.operation].place;
    throw;
  }
}

} // namespace overdub::tools
