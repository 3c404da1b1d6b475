// Functions of the staged program: the functions of the evaluated program in the contexts, and calls of them.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/ir/walk.hpp>
#include <overdub/stage/evaluated_in_library.hpp>
#include <overdub/stage/evaluation/function_callee.hpp>
#include <overdub/stage/evaluation/symbols.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace overdub::detail {

// The contexts of the stack, except `staging`.
template <class S>
std::vector<context_identity> contexts_above(S const& contexts) {
  std::vector<context_identity> all;
  if constexpr (!detail::symbolic<typename S::context>) {
    all = detail::contexts_above(contexts.rest());
    add_context(all, contexts.top().get());
  }
  return all;
}
// The key of a function that is staged, for a way to stage it.
template <class S>
void const* staging_key(evaluation_state<S> const& e, void const* way, ir::function_id id) {
  return e.recorder().key_of(
      way, {.contexts = detail::contexts_above(e.stack()), .of = &e.program(), .number = ir::index_of(id)});
}

// ---- functions in the contexts

// The declared derivative of a function in these contexts, if they preserve the types of its parameters and results.
template <class S>
ir::derivative derivative_in_contexts(evaluation_state<S>& e, ir::function_id id) {
  ir::derivative says = e.program()[id].derivative;
  ir::function const& f = e.program()[id];
  std::vector<ir::type> types;
  for (ir::value_id const v : f.parameters()) detail::append_types_in(e, types, f.type_of(v));
  if (says.how == ir::derivative::by::refused) {
    says.why = e.recorder().program.intern(e.program().text(says.why));
  } else if (says.how == ir::derivative::by::rule) {
    if (types.size() != f.parameters().size()) return {}; // with metadata: by its body
    says.tangent = stage_in_contexts(e, says.tangent);
    if (says.cotangent != ir::nothing) says.cotangent = stage_in_contexts(e, says.cotangent);
  }
  return says;
}
template <class S>
ir::function_id stage_in_contexts(evaluation_state<S>& e, ir::function_id id) {
  recorder& r = e.recorder();
  void const* const key = detail::staging_key(e, &type_key<S>, id);
  if (auto const* known = r.find(key)) return known->id;
  ir::function const& f = e.program()[id];
  std::vector<ir::type> parameters, parameter_symbols, result_symbols;
  for (ir::value_id const v : f.parameters()) {
    parameters.push_back(f.type_of(v));
    detail::append_types_in(e, parameter_symbols, f.type_of(v));
  }
  for (ir::type const t : f.results) detail::append_types_in(e, result_symbols, t);
  std::string_view const own_name = e.program().text(f.name);
  std::size_t const number = r.begin(
      key, std::string(recorder::base_name(own_name)) + e.above() + names_above<S, symbols_alone>(),
      parameter_symbols);
  ir::function_id const made = r.id_of(number);
  r.program[made].results = result_symbols;
  r.program[made].origin_in_cpp = f.origin_in_cpp;
  r.program[made].origin_name = f.origin_name.empty() ? interned_name(own_name) : f.origin_name;
  auto const scope = r.enter(made);
  auto const yielded = run_function(e, id, detail::slots_of(e, parameters, r.here().parameters()));
  r.yield(detail::symbols_of_results(e, id, yielded));
  r.end(number, std::vector<cell<S>>());
  if (f.derivative.how != ir::derivative::by::body) {
    ir::derivative const says = derivative_in_contexts(e, id); // which stages more
    r.program[made].derivative = says;
  }
  return made;
}

// Stages a call of the function in the contexts.
template <class S>
std::vector<slot<S>> stage_call(
    evaluation_state<S>& e, ir::function_id id, std::vector<slot<S>> const& arguments,
    std::uint8_t flags = 0) {
  recorder& r = e.recorder();
  ir::function_id const callee = stage_in_contexts(e, id);
  ir::function const& f = e.program()[id];
  std::vector<ir::value_id> operands;
  for (std::uint32_t i = 0; i < arguments.size(); ++i)
    detail::append_symbols(e, operands, arguments[i], f.type_of(f.parameters()[i]));
  auto const types = r.program[callee].results;
  ir::node_id const n =
      r.insert(ir::op::call, operands, types, {.subject = index_of(callee), .flags = flags});
  return detail::slots_of(e, f.results, r.here().results_of(n));
}

// ---- functions whose calls contexts intercept

/// Whether an entry is a wrapper that contexts with hooks generated: it calls hooks, and the function, whose name ends with the contexts'.
bool is_run_of_function(ir::program const& p, ir::function_id entry);

template <class S>
ir::function_id stage_intercepted(evaluation_state<S>& e, ir::function_id id) {
  ir::program const& p = e.program();
  if (!e.intercepts_functions() || (id == p.entry && detail::is_run_of_function(p, id)))
    return stage_in_contexts(e, id);
  if constexpr (may_intercept_functions<S>()) {
    recorder& r = e.recorder();
    void const* const key = detail::staging_key(e, &type_key<evaluation_state<S>>, id);
    if (auto const* known = r.find(key)) return known->id;
    ir::function const& f = p[id];
    std::vector<ir::type> parameters, parameter_symbols;
    for (ir::value_id const v : f.parameters()) {
      parameters.push_back(f.type_of(v));
      detail::append_types_in(e, parameter_symbols, f.type_of(v));
    }
    std::size_t const number =
        r.begin(key, std::string(recorder::base_name(p.text(f.name))) + e.above(), parameter_symbols);
    ir::function_id const made = r.id_of(number);
    {
      auto const scope = r.enter(made);
      auto const yielded = call_function(e, id, detail::slots_of(e, parameters, r.here().parameters()));
      std::vector<ir::value_id> const results = detail::symbols_of_results(e, id, yielded);
      r.yield(results);
      r.program[made].results = r.types_of(results);
    }
    r.end(number, std::vector<cell<S>>());
    ir::function_id const callee = only_callee(r.program, made);
    if (callee == ir::nothing) return made;
    r.program.erase(made); // it only forwards its arguments
    r.find(key)->id = callee;
    return callee;
  }
  return stage_in_contexts(e, id);
}

} // namespace overdub::detail
