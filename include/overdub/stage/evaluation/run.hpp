// What evaluations of operations need from one another: to run regions, and to call functions.
#pragma once

#include <overdub/stage/evaluation/state.hpp>

#include <span>
#include <string>
#include <utility>
#include <vector>

namespace overdub::detail {

// ---- regions (operations.hpp)

/// Evaluates a region. Returns the yielded values.
template <class S>
std::vector<slot<S>>
run_region(evaluation_state<S>& e, frame<S>& at, ir::region_id r, std::vector<slot<S>> arguments);
/// The same of a region whose arguments and results are leaves.
template <class S, class... Arguments>
std::vector<cell<S>>
run_region_on(evaluation_state<S>& e, frame<S>& at, ir::region_id r, Arguments const&... arguments) {
  std::vector<slot<S>> slots;
  (detail::append_slots(slots, arguments), ...);
  std::vector<cell<S>> results;
  for (slot<S> const& s : run_region(e, at, r, std::move(slots))) results.push_back(e.leaf(s));
  return results;
}

// ---- functions (function_callee.hpp, calls.hpp)

/// An evaluation in these contexts.
template <class S>
evaluation_state<S> evaluation_in(ir::program const& p, S const& contexts, std::string above = {});
/// An evaluation of the same program in other contexts.
template <class T, class S>
evaluation_state<T> evaluation_in(evaluation_state<S> const& e, T const& contexts);

/// Calls a function, with interception by the contexts.
template <class S>
std::vector<slot<S>>
call_function(evaluation_state<S>& e, ir::function_id id, std::vector<slot<S>> arguments);
/// Calls a function in the contexts, without interception of the call itself.
template <class S>
std::vector<slot<S>>
call_directly(evaluation_state<S>& e, ir::function_id id, std::vector<slot<S>> arguments);
/// Evaluates the body of a function, or its declared derivative.
template <class S>
std::vector<slot<S>> run_function(evaluation_state<S>& e, ir::function_id id, std::vector<slot<S>> arguments);

// ---- native functions (host.hpp)

/// Calls a native function with pointers to its arguments, and to its result, if any.
template <class S>
void run_native(
    evaluation_state<S> const& e, ir::function::node const& x, std::vector<void const*> const& given,
    void* result);
/// Stages the call of a native function. Returns the result, if there is one.
template <class S>
ir::value_id stage_native(
    evaluation_state<S>& e, ir::function::node const& x, std::span<ir::value_id const> operands,
    std::vector<ir::type> const& results);

// ---- functions of the staged program, in symbolic contexts (staged_functions.hpp)

/// Stages a function in the contexts, once. Returns the staged function.
template <class S>
ir::function_id stage_in_contexts(evaluation_state<S>& e, ir::function_id id);
/// A staged function that calls this one with interception by the contexts; if no context intercepts it, the function in the contexts.
template <class S>
ir::function_id stage_intercepted(evaluation_state<S>& e, ir::function_id id);

} // namespace overdub::detail
