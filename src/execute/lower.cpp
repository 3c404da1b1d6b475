// Lowering of whole functions and programs, operation by operation.

#include <overdub/implementation/execute/flatten.hpp>
#include <overdub/implementation/execute/lower.hpp>
#include <overdub/implementation/execute/lower_arrays.hpp>
#include <overdub/implementation/execute/lower_blocks.hpp>
#include <overdub/implementation/execute/lower_calls.hpp>
#include <overdub/implementation/execute/lower_control.hpp>
#include <overdub/implementation/execute/lower_lane_arrays.hpp>
#include <overdub/implementation/execute/lower_lane_control.hpp>
#include <overdub/ir/type_text.hpp>

#include <memory>
#include <utility>
#include <vector>

namespace overdub::execute {

inline void lowering::check_type(ir::type t) const {
  if (t.element == ir::scalar::key || t.element == ir::scalar::opaque)
    refuse("it has values of type " + ir::text_of(p_, t) + ", which are not supported here");
  if (t.element == ir::scalar::function && t.rank > 0)
    refuse("it has arrays of functions; pass the functions one by one");
}

inline void lowering::lower_node(node_id n) {
  for (value_id const v : f_.results_of(n)) check_type(type_of(v));
  switch (f_[n].code) {
  case ir::op::convert:
    lower_convert(n);
    break;
  case ir::op::array:
    lower_array(n);
    break;
  case ir::op::length:
    lower_length(n);
    break;
  case ir::op::at:
    lower_at(n);
    break;
  case ir::op::slice:
    lower_slice(n);
    break;
  case ir::op::update:
    lower_update(n);
    break;
  case ir::op::fill:
    lower_new_array(n, &doing<fill>::run, at(f_.operand(n, 0)), at(f_.operand(n, 1)));
    break;
  case ir::op::iota:
    lower_new_array(n, &doing<iota>::run, at(f_.operand(n, 0)), 0);
    break;
  case ir::op::concat: {
    std::vector<offset> list;
    for (value_id const v : f_.operands_of(n)) list.push_back(at(v));
    lower_new_array(n, &doing<concat>::run, out_.list(list), f_[n].operand_count);
    break;
  }
  case ir::op::gather:
    lower_new_array(n, &doing<gather>::run, at(f_.operand(n, 0)), at(f_.operand(n, 1)));
    break;
  case ir::op::copy:
    lower_copy(n);
    break;
  case ir::op::if_:
    lower_if(n);
    break;
  case ir::op::loop:
    lower_loop(n);
    break;
  case ir::op::while_:
    lower_while(n);
    break;
  case ir::op::map:
    lower_map(n);
    break;
  case ir::op::reduce:
    lower_reduce(n);
    break;
  case ir::op::accumulate:
    lower_accumulate(n);
    break;
  case ir::op::add_to:
    lower_add_to(n);
    break;
  case ir::op::protect:
    lower_protect(n);
    break;
  case ir::op::call:
  case ir::op::apply:
    lower_call(n);
    break;
  case ir::op::closure:
    lower_closure(n);
    break;
  case ir::op::reabstract:
    lower_reabstract(n);
    break;
  case ir::op::host:
    lower_host(n);
    break;
  case ir::op::sample:
    lower_sample(n);
    break;
  case ir::op::assert_:
    lower_assert(n);
    break;
  default:
    refuse_unless_elementwise(n);
    lower_elementwise(n);
  }
  live_in(f_.results_of(n), f_[n].parent);
}

inline function_code lowering::lower() {
  function_code made;
  made.entry = out_.label();
  for (value_id const v : f_.parameters()) {
    check_type(type_of(v));
    assign_slot(v, words_.allocate(words(v)));
    if (execute::is_reference_counted(type_of(v))) made.owners.push_back(owner_word(v) - first_parameter);
    if (type_of(v).is_function()) made.functions.push_back(owner_word(v) - first_parameter);
    made.parameter_words += words(v);
  }
  made.literals = words_.bytes();
  made.first_literal = static_cast<std::uint32_t>(shared_.to.literals.size());
  for (std::uint32_t i = 0; i < f_.value_count(); ++i) {
    value_id const v{i};
    if (!f_.is_literal(v) || !f_.is_used(v)) continue;
    assign_slot(v, words_.allocate(1));
    shared_.to.literals.push_back(f_.bits_of(v));
    ++made.literal_count;
  }
  live_in(f_.parameters(), ir::function::body);
  lower_region(ir::function::body);
  node_id const last = f_.yield_of(ir::function::body);
  std::vector<offset> results;
  for (std::uint32_t k = 0; k < f_[last].operand_count; ++k) {
    value_id const v = f_.operand(last, k);
    retain_consumed(last, k);
    auto const first = results.size();
    append_words(results, v);
    made.results.push_back(results[first]);
  }
  finish(last);
  if (results.size() == 1)
    out_.emit(&return_word::run, 0, results[0]);
  else
    out_.emit(&return_values::run, 0, out_.list(results), static_cast<offset>(results.size()));
  made.frame_bytes = words_.bytes();
  for (std::uint32_t const i : calls_) out_[i].c = made.frame_bytes;
  return made;
}

std::shared_ptr<code const> lower(
    ir::program const& given, ir::function_id entry, host_registry const& hosts,
    execution_options const& options) {
  if (!ir::is_runnable(given.math))
    throw not_executable(message(
        "overdub: @%s cannot be interpreted: %s", std::string(given.name_of(entry)).c_str(),
        ir::not_consistent));
  auto const flat = flattening(given).run();
  ir::program const& p = flat ? *flat : given;
  auto made = std::make_shared<code>();
  made->registry = hosts;
  ir::function const& f = p[entry];
  made->name = p.text(f.name);
  for (ir::value_id const v : f.parameters()) {
    made->parameters.push_back(f.type_of(v));
    made->parameter_names.emplace_back(f[v].name == ir::nothing ? "" : p.text(f[v].name));
  }
  made->results = f.results;
  lowering_of_program shared{
      p, options, *made, emitter(*made, p.math), std::vector<std::uint32_t>(p.functions.size(), ~0u), {}};
  (void)shared.number(entry);
  for (std::size_t i = 0; i < shared.order.size(); ++i)
    made->functions.push_back(lowering(shared, shared.order[i]).lower());
  std::vector<offset> results{0};
  for (ir::type const t : f.results)
    for (offset k = 0; k < words_of(t); ++k)
      results.push_back(static_cast<offset>(results.size() - 1) * word_size);
  made->launch = shared.out.emit(nullptr, 0, shared.out.list(results));
  shared.out.emit(&halt::run);
  return made;
}

} // namespace overdub::execute
