#include <overdub/implementation/stage/evaluation_in_library.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

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

ir::function_id entry_of(ir::program const& p) {
  if (p.entry == ir::nothing)
    throw evaluation_error(
        message("overdub: the program has no entry; set program.entry, or name the function"));
  return p.entry;
}

void check_arguments(ir::program const& p, ir::function_id id, std::span<ir::type const> given) {
  if (index_of(id) >= p.functions.size() || p.is_erased(id))
    throw argument_error(
        message("overdub: there is no function of the number %u in the program", index_of(id)));
  ir::function const& f = p[id];
  std::string const name(p.name_of(id));
  if (f.parameters().size() != given.size())
    throw argument_error(message(
        "overdub: @%s takes %zu arguments, and was given %zu", name.c_str(), f.parameters().size(),
        given.size()));
  for (std::size_t i = 0; i < given.size(); ++i)
    if (ir::type const wanted = f.type_of(f.parameters()[i]); wanted != given[i])
      throw argument_error(message(
          "overdub: @%s: argument %zu is %s, and was given %s", name.c_str(), i + 1,
          ir::text_of(p, wanted).c_str(), ir::text_of(p, given[i]).c_str()));
}

bool has_functions_in_data(ir::program const& p) {
  return ir::any_function_value(p, [](ir::function const& f, ir::value_id v) {
    if (f.type_of(v).rank > 0) return true;
    if (!f.is_result(v)) return false;
    ir::function::node const& made_by = f[f.node_of(v)];
    return made_by.region_count > 0 && made_by.code != ir::op::if_;
  });
}

ir::program with_functions_as_data(ir::program p, ir::function_id entry) {
  p.entry = entry;
  (void)pass::defunctionalise(p);
  return p;
}

} // namespace overdub::detail
