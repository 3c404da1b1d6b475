#include <overdub/implementation/execute/array_handlers.hpp>
#include <overdub/implementation/execute/control_handlers.hpp>
#include <overdub/implementation/execute/flatten.hpp>
#include <overdub/implementation/execute/lower.hpp>
#include <overdub/implementation/execute/lowering.hpp>
#include <overdub/implementation/execute/supported_types.hpp>

#include <utility>

namespace overdub::execute {
namespace {

// One function.
function_code lower_function(lowering_of_program& shared, ir::function_id id) {
  function_lowering fn(shared, id);
  function_code made;
  made.entry = fn.out.label();
  for (value_id const v : fn.f.parameters()) {
    refuse_unless_supported(fn, fn.type_of(v));
    fn.slots.assign(v, fn.slots.allocate(fn.slots.words_of(v)));
    if (holds_reference(fn.type_of(v))) made.owners.push_back(fn.slots.owner_word(v) - first_parameter);
    if (fn.type_of(v).is_function()) made.functions.push_back(fn.slots.owner_word(v) - first_parameter);
    made.parameter_words += fn.slots.words_of(v);
  }
  made.literals = fn.slots.frame_bytes();
  made.first_literal = static_cast<std::uint32_t>(fn.shared.to.literals.size());
  for (std::uint32_t i = 0; i < fn.f.value_count(); ++i) {
    value_id const v{i};
    if (!fn.f.is_literal(v) || !fn.f.is_used(v)) continue;
    fn.slots.assign(v, fn.slots.allocate(1));
    fn.shared.to.literals.push_back(fn.f.bits_of(v));
    ++made.literal_count;
  }
  lower_region(fn, ir::function::body);
  node_id const last = fn.f.yield_of(ir::function::body);
  std::vector<offset> results;
  for (std::uint32_t k = 0; k < fn.f[last].operand_count; ++k) {
    value_id const v = fn.f.operand(last, k);
    retain_consumed(fn, last, k);
    auto const first = results.size();
    append_words(fn, results, v);
    made.results.push_back(results[first]);
  }
  finish(fn, last);
  if (results.size() == 1)
    fn.out.emit(&return_word::run, 0, results[0]);
  else
    fn.out.emit(&return_values::run, 0, fn.out.list(results), static_cast<offset>(results.size()));
  made.frame_bytes = fn.slots.frame_bytes();
  for (std::uint32_t const i : fn.calls) fn.out[i].c = made.frame_bytes;
  return made;
}

} // namespace

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
    made->functions.push_back(lower_function(shared, shared.order[i]));
  std::vector<offset> results{0};
  for (ir::type const t : f.results)
    for (offset k = 0; k < words_of(t); ++k)
      results.push_back(static_cast<offset>(results.size() - 1) * word_size);
  made->launch = shared.out.emit(nullptr, 0, shared.out.list(results));
  shared.out.emit(&halt::run);
  return made;
}

} // namespace overdub::execute
