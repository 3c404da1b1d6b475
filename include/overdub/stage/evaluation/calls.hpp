// Calls of functions of the program: with interception by the contexts, without it, and outside of the contexts.
#pragma once

#include <overdub/stage/evaluated_in_library.hpp>
#include <overdub/stage/evaluation/derivatives.hpp>
#include <overdub/stage/evaluation/function_callee.hpp>
#include <overdub/stage/evaluation/staged_functions.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace overdub::detail {

// ---- calls with interception

template <class S>
std::vector<slot<S>>
call_function(evaluation_state<S>& e, ir::function_id id, std::vector<slot<S>> arguments) {
  if constexpr (may_intercept_functions<S>())
    if (e.intercepts_functions())
      if (auto results = intercepted_call<S, function_callee<S>>({e, id}, arguments)
                             .template run<unnamed_function>(named_functions_t<S>{}))
        return *std::move(results);
  return call_directly(e, id, std::move(arguments));
}

// ---- calls without interception

template <class S>
std::vector<slot<S>>
run_function(evaluation_state<S>& e, ir::function_id id, std::vector<slot<S>> arguments) {
  ir::function const& f = e.program()[id];
  if constexpr (differentiates<S>)
    if (f.derivative.how != ir::derivative::by::body) return detail::call_by_rule(e, id, arguments);
  frame<S> at(f);
  return run_region(e, at, ir::function::body, std::move(arguments));
}
template <class S>
std::vector<slot<S>>
call_directly(evaluation_state<S>& e, ir::function_id id, std::vector<slot<S>> arguments) {
  if constexpr (is_symbolic<S>) {
    if constexpr (differentiates<
                      S>) // with constant arguments, which are known only here, it is not differentiated
      if (e.program()[id].derivative.how == ir::derivative::by::refused)
        return detail::call_by_rule(e, id, arguments);
    return detail::stage_call(e, id, arguments);
  } else
    return run_function(e, id, std::move(arguments));
}

// ---- exempt calls

// Defined in the library: otherwise each unit would have an evaluation of all operations without contexts.

/// Stages a function outside of the contexts. `above` are the names of the contexts in which the evaluation runs.
ir::function_id stage_outside(
    ir::program const& p, symbols_alone const& contexts, std::string above, ir::function_id id,
    stack_limit const& limit);
/// Runs a function on numbers.
std::vector<cell<stack<>>> run_outside(
    ir::program const& p, ir::function_id id, std::vector<cell<stack<>>> const& arguments,
    stack_limit const& limit);

// The stack of the innermost context.
template <class S>
constexpr auto const& innermost_of(S const& contexts) {
  if constexpr (S::depth == 1)
    return contexts;
  else
    return detail::innermost_of(contexts.rest());
}
// Calls a function outside of the contexts. Its results are constants in the contexts.
template <class S>
std::vector<slot<S>>
call_outside(evaluation_state<S>& e, ir::function_id id, std::vector<slot<S>> arguments) {
  if constexpr (S::empty) {
    return run_function(e, id, std::move(arguments));
  } else if constexpr (std::is_same_v<S, symbols_alone>) {
    return detail::stage_call(e, id, arguments, ir::attributes::exempt);
  } else if constexpr (is_symbolic<S>) {
    ir::function const& f = e.program()[id];
    std::vector<ir::value_id> operands;
    for (std::uint32_t i = 0; i < arguments.size(); ++i) {
      if (f.type_of(f.parameters()[i]).is_function())
        throw evaluation_error(message(
            "overdub: an exempt call gives @%s a function value, which would run in the contexts; inline the "
            "function value first, or call the function without the mark",
            std::string(e.program().text(f.name)).c_str()));
      operands.push_back(detail::symbol_of(e, arguments[i]));
    }
    recorder& r = e.recorder();
    ir::function_id const callee =
        detail::stage_outside(e.program(), detail::innermost_of(e.stack()), e.above(), id, e.limit());
    auto const types = r.program[callee].results;
    ir::node_id const made = r.insert(ir::op::call, operands, types, ir::attributes::exempt_call(callee));
    auto const symbols = r.here().results_of(made);
    if constexpr (keeps_form<S>)
      return detail::slots_of(e, f.results, symbols);
    else {
      std::vector<slot<S>> results;
      for (std::size_t i = 0; i < types.size(); ++i)
        results.push_back({with_type(types[i], [&]<class T>(std::type_identity<T>) {
          return cell<S>(symbol_in<T>(e.stack(), symbols[i]));
        })});
      return results;
    }
  } else {
    std::vector<cell<overdub::stack<>>> given;
    for (slot<S> const& s : arguments)
      detail::opened(e.leaf(s), [&](auto const& held, auto) { given.push_back(concrete(held)); });
    std::vector<slot<S>> results;
    for (auto const& c : detail::run_outside(e.program(), id, given, e.limit()))
      results.push_back({c.visit([&](auto const& held) { return cell<S>(wrap(e.stack(), held)); })});
    return results;
  }
}

// ---- the operation

template <class S>
void evaluate_call(evaluation_state<S>& e, frame<S>& at, ir::node_id n) {
  std::vector<slot<S>> arguments;
  for (ir::value_id const v : at.f.operands_of(n)) arguments.push_back(e.slot_at(at, v));
  ir::attributes const& a = at.f[n].attributes;
  detail::set_results(
      at, n,
      a.is_exempt() ? call_outside(e, a.callee(), std::move(arguments))
                    : call_function(e, a.callee(), std::move(arguments)));
}

// ---- calls from outside of the evaluation

template <class S>
std::vector<slot<S>> as_slots(std::vector<cell<S>> const& cells) {
  std::vector<slot<S>> slots;
  for (cell<S> const& c : cells) slots.push_back({c});
  return slots;
}
template <class S>
std::vector<cell<S>> leaves_of(evaluation_state<S> const& e, std::vector<slot<S>> const& slots) {
  std::vector<cell<S>> cells;
  for (slot<S> const& s : slots) cells.push_back(e.leaf(s));
  return cells;
}
/// Runs a function on cells of its parameters' types.
template <class S>
std::vector<cell<S>>
run_on_cells(evaluation_state<S>& e, ir::function_id id, std::vector<cell<S>> const& arguments) {
  std::vector<slot<S>> slots = detail::as_slots<S>(arguments);
  return detail::leaves_of(
      e, e.intercepts_functions() ? call_function(e, id, std::move(slots))
                                  : run_function(e, id, std::move(slots)));
}
/// Stages a call of the staged function with cells of symbols.
template <class S>
std::vector<cell<S>>
stage_call_on_cells(evaluation_state<S>& e, ir::function_id id, std::vector<cell<S>> const& arguments) {
  std::vector<slot<S>> slots = detail::as_slots<S>(arguments);
  return detail::leaves_of(
      e,
      e.intercepts_functions() ? call_function(e, id, std::move(slots)) : detail::stage_call(e, id, slots));
}

} // namespace overdub::detail
