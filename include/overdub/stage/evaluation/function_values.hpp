// The evaluation of operations that create, select and apply function values.
#pragma once

#include <overdub/ir/regions.hpp>
#include <overdub/stage/evaluation/symbols.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace overdub::detail {

template <class S>
void evaluate_closure(evaluation_state<S>& e, frame<S>& at, ir::node_id n) {
  auto made = std::make_shared<closure<S>>();
  made->f = at.f[n].attributes.callee();
  for (ir::value_id const v : at.f.operands_of(n)) made->captured.push_back(e.slot_at(at, v));
  ir::value_id const result = at.f.result(n);
  at[result] = {.function_value = std::move(made), .type = at.f.type_of(result)};
}

// Stages the application of a symbol of the type t.
template <class S>
std::vector<slot<S>> stage_application(
    evaluation_state<S>& e, slot<S> const& f, ir::type t, std::vector<slot<S>> const& arguments) {
  ir::signature const& s = e.program().signature_of(t);
  std::vector<ir::value_id> operands{detail::function_symbol(e, f, t)};
  for (std::size_t i = 0; i < arguments.size(); ++i)
    detail::append_symbols(e, operands, arguments[i], s.parameters[i]);
  std::vector<ir::type> types;
  for (ir::type const each : s.results) detail::append_types_in(e, types, each);
  ir::node_id const n = e.recorder().insert(ir::op::apply, operands, types);
  return detail::slots_of(e, s.results, e.recorder().here().results_of(n));
}
template <class S>
void evaluate_apply(evaluation_state<S>& e, frame<S>& at, ir::node_id n) {
  slot<S> const f = e.slot_at(at, at.f.operand(n, 0));
  std::vector<slot<S>> arguments;
  if (f.function_value) arguments = f.function_value->captured;
  for (std::uint32_t i = 1; i < at.f[n].operand_count; ++i)
    arguments.push_back(e.slot_at(at, at.f.operand(n, i)));
  if (f.function_value)
    return detail::set_results(at, n, call_function(e, f.function_value->f, std::move(arguments)));
  if constexpr (is_symbolic<S>)
    detail::set_results(at, n, detail::stage_application(e, f, at.f.type_of(at.f.operand(n, 0)), arguments));
  else
    throw evaluation_error(message("overdub: evaluate: a function value was made outside of the program"));
}

// Function values of all conventions are called in the same way. A symbol is reabstracted when it is used with another type.
template <class S>
void evaluate_reabstract(evaluation_state<S>& e, frame<S>& at, ir::node_id n) {
  at[at.f.result(n)] = e.slot_at(at, at.f.operand(n, 0));
}

// ---- control operations with function values as results, to which rules of contexts do not apply

template <class S>
bool gives_functions(frame<S> const& at, ir::node_id n) {
  for (ir::value_id const v : at.f.results_of(n))
    if (at.f.type_of(v).is_function()) return true;
  return false;
}
template <class S>
void select_function(evaluation_state<S>& e, frame<S>& at, ir::node_id n) {
  slot<S>& result = at[at.f.result(n)];
  if constexpr (is_symbolic<S>) {
    ir::type const t = at.f.type_of(at.f.result(n));
    ir::value_id const operands[] = {
        detail::symbols_of(e.cells_at(at, n, 0, 1))[0],
        detail::function_symbol(e, e.slot_at(at, at.f.operand(n, 1)), t),
        detail::function_symbol(e, e.slot_at(at, at.f.operand(n, 2)), t)};
    result = {
        .symbol = e.recorder().add(ir::op::select, operands, detail::function_type_in(e, t)), .type = t};
  } else
    result = e.slot_at(at, at.f.operand(n, concrete(e.template typed<bool>(at, at.f.operand(n, 0))) ? 1 : 2));
}
template <class S>
void branch_to_functions(evaluation_state<S>& e, frame<S>& at, ir::node_id n) {
  if constexpr (is_symbolic<S>) {
    ir::value_id const condition[] = {detail::symbols_of(e.cells_at(at, n, 0, 1))[0]};
    ir::node_id const made =
        e.recorder().insert(ir::op::if_, condition, {}, {}, std::vector<std::vector<ir::type>>(2));
    for (std::uint32_t i = 0; i < 2; ++i) stage_region(e, at, n, made, i);
    set_staged_results(e, at, n, made);
  } else {
    std::uint32_t const taken = concrete(e.template typed<bool>(at, at.f.operand(n, 0))) ? 0 : 1;
    detail::set_results(at, n, run_region(e, at, at.f.region_at(n, taken), {}));
  }
}
template <class S>
void loop_on_functions(evaluation_state<S>& e, frame<S>& at, ir::node_id n) {
  ir::function::node const& x = at.f[n];
  bool const counted = ir::is_counted(x.code);
  if (is_symbolic<S> || x.result_count != x.operand_count - counted)
    throw evaluation_error(message(
        "overdub: evaluate: a loop that carries function values is not rewritten by contexts, and stacks "
        "nothing; inline the functions, make two loops of it, or use an executable"));
  if constexpr (!is_symbolic<S>) {
    std::vector<slot<S>> state;
    for (std::uint32_t i = counted; i < x.operand_count; ++i)
      state.push_back(e.slot_at(at, at.f.operand(n, i)));
    if (counted) {
      i64 const count = concrete(e.integer(at, n, 0));
      for (i64 i = 0; i < count; ++i) {
        std::vector<slot<S>> arguments;
        detail::append_slots(
            arguments, wrap_t<S, i64>(wrap(e.stack(), x.attributes.is_reversed() ? count - 1 - i : i)));
        arguments.insert(arguments.end(), state.begin(), state.end());
        state = run_region(e, at, at.f.region_at(n, 0), std::move(arguments));
      }
    } else
      while (
          concrete(*run_region(e, at, at.f.region_at(n, 0), state)[0].leaf.template get<wrap_t<S, bool>>()))
        state = run_region(e, at, at.f.region_at(n, 1), std::move(state));
    detail::set_results(at, n, std::move(state));
  }
}

} // namespace overdub::detail
