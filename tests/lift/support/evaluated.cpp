// The executor evaluate, for the other sources.
#include "lift/executors.hpp"

#include <overdub/stage/evaluate_data.hpp>

std::vector<overdub::datum> lifted::evaluated(
    overdub::ir::program const& p, overdub::ir::function_id f, std::vector<datum> const& arguments) {
  return overdub::evaluate(p, f, arguments);
}
