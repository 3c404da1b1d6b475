// The evaluator runs the functions of a program by dispatching each operation in a stack of contexts. On numbers it interprets the
// program, on values of a context it runs the program in that context, and on symbols it stages the program again. It is the
// reference of all executors.
#pragma once

#include <overdub/stage/evaluation/accumulators.hpp>
#include <overdub/stage/evaluation/arrays.hpp>
#include <overdub/stage/evaluation/calls.hpp>
#include <overdub/stage/evaluation/control.hpp>
#include <overdub/stage/evaluation/function_values.hpp>
#include <overdub/stage/evaluation/host.hpp>
#include <overdub/stage/evaluation/natives.hpp>
#include <overdub/stage/evaluation/reductions.hpp>
#include <overdub/stage/evaluation/scalars.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace overdub::detail {

template <class S>
void evaluate_operation(evaluation_state<S>& e, frame<S>& at, ir::node_id n) {
  ir::function::node const& x = at.f[n];
  if (x.code == ir::op::host && intercept_native(e, at, n)) return;
  if constexpr (keeps_form<S>)
    if (is_copied_call(e, x)) return copy_operation(e, at, n);
  if (ir::is_elementwise(x.code)) return evaluate_elementwise(e, at, n);
  switch (x.code) {
  // An operation that no context may intercept is copied: it leaves the switch.
  case ir::op::convert:
    if constexpr (is_intercepted_for_any<S, ir::op::convert>()) return evaluate_convert(e, at, n);
    break;
  case ir::op::array:
    if constexpr (is_intercepted_for_any<S, ir::op::array>()) return evaluate_array(e, at, n);
    break;
  case ir::op::length:
    if constexpr (is_intercepted_for_any<S, ir::op::length>()) return evaluate_length(e, at, n);
    break;
  case ir::op::at:
    if constexpr (is_intercepted_for_any<S, ir::op::at>()) return evaluate_at(e, at, n);
    break;
  case ir::op::slice:
    if constexpr (is_intercepted_for_any<S, ir::op::slice>()) return evaluate_slice(e, at, n);
    break;
  case ir::op::update:
    if constexpr (is_intercepted_for_any<S, ir::op::update>()) return evaluate_update(e, at, n);
    break;
  case ir::op::fill:
    if constexpr (is_intercepted_for_any<S, ir::op::fill>()) return evaluate_fill(e, at, n);
    break;
  case ir::op::iota:
    if constexpr (is_intercepted_for_any<S, ir::op::iota>()) return evaluate_iota(e, at, n);
    break;
  case ir::op::concat:
    if constexpr (is_intercepted_for_any<S, ir::op::concat>()) return evaluate_concat(e, at, n);
    break;
  case ir::op::gather:
    if constexpr (is_intercepted_for_any<S, ir::op::gather>()) return evaluate_gather(e, at, n);
    break;
  case ir::op::copy:
    if constexpr (!keeps_form<S>) return detail::evaluate_on_array(e, at, n, [](auto const& a) { return a; });
    break;
  case ir::op::if_:
    return evaluate_if(e, at, n);
  case ir::op::loop:
    return evaluate_loop(e, at, n);
  case ir::op::while_:
    return evaluate_while(e, at, n);
  case ir::op::map:
    return evaluate_map(e, at, n);
  case ir::op::reduce:
    return evaluate_reduce(e, at, n);
  case ir::op::accumulate:
    if constexpr (!keeps_form<S>) return evaluate_accumulate(e, at, n);
    break;
  case ir::op::add_to:
    if constexpr (!keeps_form<S>) return evaluate_add_to(e, at, n);
    break;
  case ir::op::protect:
    if constexpr (!keeps_form<S>) return evaluate_protect(e, at, n);
    break;
  case ir::op::call:
    return evaluate_call(e, at, n);
  case ir::op::closure:
    if constexpr (!keeps_form<S> || may_intercept_functions<S>()) return evaluate_closure(e, at, n);
    break;
  case ir::op::apply:
    if constexpr (!keeps_form<S> || may_intercept_functions<S>()) return evaluate_apply(e, at, n);
    break;
  case ir::op::reabstract:
    if constexpr (!keeps_form<S> || may_intercept_functions<S>()) return evaluate_reabstract(e, at, n);
    break;
  case ir::op::host:
    if constexpr (!keeps_form<S>) return evaluate_host(e, at, n);
    break;
  case ir::op::sample:
    if constexpr (!keeps_form<S>) return evaluate_sample(e, at, n);
    break;
  case ir::op::assert_:
    if constexpr (!keeps_form<S>) return evaluate_assert(e, at, n);
    break;
  default:
    throw evaluation_error(message(
        "overdub: evaluate: the operation %s is not known", std::string(ir::name_of(at.f[n].code)).c_str()));
  }
  if constexpr (keeps_form<S>) copy_operation(e, at, n);
}

// The same; if it throws, records the operation as failed.
template <class S>
void evaluate_noting(evaluation_state<S>& e, frame<S>& at, ir::node_id n) {
  try {
    evaluate_operation(e, at, n);
  } catch (...) {
    if (e.failed().operation == ir::nothing)
      e.set_failed({ir::function_id{static_cast<std::uint32_t>(&at.f - e.program().functions.data())}, n});
    throw;
  }
}

template <class S>
std::vector<slot<S>>
run_region(evaluation_state<S>& e, frame<S>& at, ir::region_id r, std::vector<slot<S>> arguments) {
  e.check_depth();
  for (std::size_t i = 0; i < arguments.size(); ++i)
    at[at.f.argument(r, static_cast<std::uint32_t>(i))] = std::move(arguments[i]);
  ir::node_id const last = at.f.yield_of(r);
  for (ir::node_id n = at.f[r].first; n != last; n = at.f[n].next)
    if constexpr (S::empty)
      evaluate_noting(e, at, n);
    else
      evaluate_operation(e, at, n);
  std::vector<slot<S>> yielded;
  for (ir::value_id const v : at.f.operands_of(last)) yielded.push_back(e.slot_at(at, v));
  return yielded;
}

} // namespace overdub::detail
