#include <overdub/implementation/stage/evaluation_in_library.hpp>

namespace overdub::detail {
OVERDUB_EVALUATE_IN_LIBRARY(stack<>)
OVERDUB_EVALUATE_IN_LIBRARY(symbols_alone)

ir::function_id stage_outside(
    ir::program const& p, symbols_alone const& contexts, std::string above, ir::function_id id,
    stack_limit const& limit) {
  evaluation_state<symbols_alone> e(p, contexts, std::move(above), false, limit);
  return stage_in_contexts(e, id);
}
std::vector<cell<stack<>>> run_outside(
    ir::program const& p, ir::function_id id, std::vector<cell<stack<>>> const& arguments,
    stack_limit const& limit) {
  stack<> const contexts;
  evaluation_state<stack<>> e(p, contexts, {}, false, limit);
  return leaves_of(e, run_function(e, id, as_slots<stack<>>(arguments)));
}
} // namespace overdub::detail
