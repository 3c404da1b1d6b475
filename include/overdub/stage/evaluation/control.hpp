// The evaluation of branches, loops, maps and protected regions.
#pragma once

#include <overdub/control/if.hpp>
#include <overdub/control/loop.hpp>
#include <overdub/control/map.hpp>
#include <overdub/stage/evaluation/forms.hpp>
#include <overdub/stage/evaluation/function_values.hpp>
#include <overdub/stage/evaluation/rows.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace overdub::detail {

inline constexpr char const* replaced_by_staging =
    "a program that was staged before has `tabulate`, or an indexed loop, in its place; stage the function "
    "of C++ in the context";

// Throws evaluation_error if a rule or hook names F, and the program has Replacement.
template <class S, class F, class Replacement>
void refuse_named(char const* why) {
  if constexpr (any_names<S, F, Replacement>())
    throw evaluation_error(message(
        "overdub: a context has a rule or a hook for `%.*s`, and %s", static_cast<int>(F::name().size()),
        F::name().data(), why));
}

// ---- branches

// A branch that returns the values given(0) or given(1).
template <class Form, class S, class Given>
void branch_in(Form, evaluation_state<S>& e, frame<S>& at, ir::node_id n, Given const& given) {
  auto take = [&](std::uint32_t i) { return [&, i] { return Form::of(given(i)); }; };
  using R = typename Form::type;
  using C = wrap_t<S, bool>;
  using Branch = decltype(take(0));
  if constexpr (!Form::is_one) detail::reject_list<S, if_t, types<R, C, Branch, Branch>>(at, n);
  if constexpr (is_called_on_list<
                    S, if_t, Form, types<R, C, Branch, Branch>,
                    types<std::vector<cell<S>>, C, Branch, Branch>>())
    detail::branch_in(list_form<S>{}, e, at, n, given);
  else if constexpr (is_copied<S, if_t, R, C, Branch, Branch>())
    copy_operation(e, at, n);
  else if (detail::gives_functions(at, n))
    at.f[n].code == ir::op::select ? select_function(e, at, n) : branch_to_functions(e, at, n);
  else if constexpr (is_kept<S, if_t, R, C, Branch, Branch>())
    detail::observe_control(
        e, at, n, observed_control_of<S, if_t, R, C, Branch, Branch>, {symbol_at(e, at, at.f.operand(n, 0))});
  else
    detail::set_results(
        at, n,
        Form::cells(call(e.stack(), if_, e.template typed<bool>(at, at.f.operand(n, 0)), take(0), take(1))));
}
template <class S, class Given>
void branch_between(evaluation_state<S>& e, frame<S>& at, ir::node_id n, Given const& given) {
  detail::in_form(at, at.f.results_of(n), [&](auto form) { detail::branch_in(form, e, at, n, given); });
}
template <class S>
void evaluate_if(evaluation_state<S>& e, frame<S>& at, ir::node_id n) {
  detail::branch_between(
      e, at, n, [&](std::uint32_t i) { return detail::run_region_on(e, at, at.f.region_at(n, i)); });
}
// Evaluates `select` of arrays or function values as a branch.
template <class S>
void evaluate_select(evaluation_state<S>& e, frame<S>& at, ir::node_id n) {
  detail::branch_between(e, at, n, [&](std::uint32_t i) { return e.cells_at(at, n, 1 + i, 1); });
}

// ---- the outputs of loops and maps

// The result of an operation that yielded no elements: an empty array of the declared type.
template <class S>
cell<S> empty_array(evaluation_state<S> const& e, ir::type t) {
  return with_type(t, [&]<class T>(std::type_identity<T>) -> cell<S> {
    if constexpr (is_array<T>)
      return wrap(e.stack(), T{});
    else
      return {};
  });
}
// Sets the results from `first` on to arrays.
template <class S, class Arrays>
void set_arrays(
    evaluation_state<S> const& e, frame<S>& at, ir::node_id n, std::size_t first, Arrays const& arrays) {
  for (std::size_t i = first; i < at.f[n].result_count; ++i) {
    ir::value_id const v = at.f.result(n, static_cast<std::uint32_t>(i));
    bool const none = arrays.empty() || !arrays[i - first];
    at[v].leaf = none ? detail::empty_array(e, at.f.type_of(v)) : detail::cell_as<cell<S>>(arrays[i - first]);
  }
}
// The results of an iteration: the loop-carried values, and the outputs.
template <class S>
using loop_step = std::tuple<std::vector<cell<S>>, std::vector<element_cell<S>>>;
template <class S>
loop_step<S> step_of(std::string_view op, row_sizes& sizes, std::vector<cell<S>> all, std::uint32_t carried) {
  detail::check_rows<S>(op, sizes, all, carried);
  std::vector<element_cell<S>> outputs;
  for (std::size_t k = carried; k < all.size(); ++k)
    outputs.push_back(detail::cell_as<element_cell<S>>(all[k]));
  all.resize(carried);
  return {std::move(all), std::move(outputs)};
}
// The loop-carried values and the outputs of a loop.
template <class S>
using loop_results = std::tuple<std::vector<cell<S>>, std::vector<array_cell<S>>>;
template <class S>
void set_outputs(evaluation_state<S> const& e, frame<S>& at, ir::node_id n, loop_results<S> const& results) {
  auto const& [state, arrays] = results;
  detail::set_results(at, n, state);
  detail::set_arrays(e, at, n, state.size(), arrays);
}

// ---- loop

template <class Form, class S>
void loop_in(Form, evaluation_state<S>& e, frame<S>& at, ir::node_id n) {
  using State = typename Form::type;
  using I = wrap_t<S, i64>;
  auto body = [&](auto const& i, State const& state) {
    return Form::of(detail::run_region_on(e, at, at.f.region_at(n, 0), I(wrap(e.stack(), i)), state));
  };
  using Body = decltype(body);
  if constexpr (!Form::is_one) detail::reject_list<S, loop_t, types<State, I, State, Body>>(at, n);
  if constexpr (is_called_on_list<
                    S, loop_t, Form, types<State, I, State, Body>,
                    types<std::vector<cell<S>>, I, std::vector<cell<S>>, Body>>())
    loop_in(list_form<S>{}, e, at, n);
  else if constexpr (is_copied<S, loop_t, State, I, State, Body>())
    copy_operation(e, at, n);
  else if (detail::gives_functions(at, n))
    loop_on_functions(e, at, n);
  else {
    if constexpr (is_kept<S, loop_t, State, I, State, Body>())
      detail::observe_control(
          e, at, n, observed_control_of<S, loop_t, State, I, State, Body>,
          hook_operands(e, at, n, Form::is_one));
    else {
      State const start = Form::of(e.cells_at(at, n, 1, at.f[n].operand_count - 1));
      detail::set_results(at, n, Form::cells(call(e.stack(), loop, e.integer(at, n, 0), start, body)));
    }
  }
}
template <class S>
void evaluate_scan(evaluation_state<S>& e, frame<S>& at, ir::node_id n) {
  ir::function::node const& x = at.f[n];
  ir::region_id const body = at.f.region_at(n, 0);
  std::uint32_t const carried = x.operand_count - 1;
  using I = wrap_t<S, i64>;
  row_sizes sizes;
  auto iteration = [&](auto const& i, std::vector<cell<S>> const& state) {
    return step_of<S>(
        "map", sizes, detail::run_region_on(e, at, body, I(wrap(e.stack(), i)), state), carried);
  };
  using State = std::vector<cell<S>>;
  using Iteration = decltype(iteration);
  if (x.result_count > carried) refuse_named<S, scan_t, indexed_scan_t<false>>(replaced_by_staging);
  if constexpr (
      is_copied<S, indexed_scan_t<false>, loop_results<S>, I, State, Iteration>() &&
      is_copied<S, indexed_scan_t<true>, loop_results<S>, I, State, Iteration>())
    return copy_operation(e, at, n);
  else {
    if (detail::gives_functions(at, n)) return loop_on_functions(e, at, n);
    auto const scan = [&]<bool Reversed>(std::bool_constant<Reversed>) {
      using F = indexed_scan_t<Reversed>;
      if constexpr (is_kept<S, F, loop_results<S>, I, State, Iteration>())
        detail::observe_control(
            e, at, n, observed_control_of<S, F, loop_results<S>, I, State, Iteration>,
            hook_operands(e, at, n, false));
      else
        detail::set_outputs(
            e, at, n, call(e.stack(), F{}, e.integer(at, n, 0), e.cells_at(at, n, 1, carried), iteration));
    };
    if (x.attributes.is_reversed())
      scan(std::true_type{});
    else
      scan(std::false_type{});
  }
}
template <class S>
void evaluate_loop(evaluation_state<S>& e, frame<S>& at, ir::node_id n) {
  ir::function::node const& x = at.f[n];
  if (x.result_count == x.operand_count - 1 && !x.attributes.is_reversed())
    detail::in_form(at, at.f.results_of(n), [&](auto form) { loop_in(form, e, at, n); });
  else
    evaluate_scan(e, at, n);
}

// ---- while

template <class S, class State>
wrap_t<S, bool> condition_of(evaluation_state<S>& e, frame<S>& at, ir::node_id n, State const& state) {
  return *run_region_on(e, at, at.f.region_at(n, 0), state)[0].template get<wrap_t<S, bool>>();
}
template <class Form, class S>
void while_in(Form, evaluation_state<S>& e, frame<S>& at, ir::node_id n) {
  using State = typename Form::type;
  auto condition = [&](State const& state) { return detail::condition_of(e, at, n, state); };
  auto body = [&](State const& state) {
    return Form::of(detail::run_region_on(e, at, at.f.region_at(n, 1), state));
  };
  using Condition = decltype(condition);
  using Body = decltype(body);
  if constexpr (!Form::is_one) detail::reject_list<S, while_t, types<State, State, Condition, Body>>(at, n);
  if constexpr (is_called_on_list<
                    S, while_t, Form, types<State, State, Condition, Body>,
                    types<std::vector<cell<S>>, std::vector<cell<S>>, Condition, Body>>())
    while_in(list_form<S>{}, e, at, n);
  else if constexpr (is_copied<S, while_t, State, State, Condition, Body>())
    copy_operation(e, at, n);
  else if (detail::gives_functions(at, n))
    loop_on_functions(e, at, n);
  else {
    if constexpr (is_kept<S, while_t, State, State, Condition, Body>())
      detail::observe_control(
          e, at, n, observed_control_of<S, while_t, State, State, Condition, Body>,
          hook_operands(e, at, n, Form::is_one));
    else {
      State const start = Form::of(e.cells_at(at, n, 0, at.f[n].operand_count));
      detail::set_results(at, n, Form::cells(call(e.stack(), while_, start, condition, body)));
    }
  }
}
template <class S>
void evaluate_while_scan(evaluation_state<S>& e, frame<S>& at, ir::node_id n) {
  std::uint32_t const carried = at.f[n].operand_count;
  row_sizes sizes;
  using State = std::vector<cell<S>>;
  auto condition = [&](State const& state) { return detail::condition_of(e, at, n, state); };
  auto iteration = [&](State const& state) {
    return step_of<S>("while", sizes, detail::run_region_on(e, at, at.f.region_at(n, 1), state), carried);
  };
  using Condition = decltype(condition);
  using Iteration = decltype(iteration);
  refuse_named<S, while_t, while_scan_t>(
      "the program has a `while` with outputs, to which it does not apply; apply the context before a "
      "transformation, such as a gradient, adds the outputs");
  if constexpr (is_copied<S, while_scan_t, loop_results<S>, State, Condition, Iteration>())
    return copy_operation(e, at, n);
  else {
    if (detail::gives_functions(at, n)) return loop_on_functions(e, at, n);
    if constexpr (is_kept<S, while_scan_t, loop_results<S>, State, Condition, Iteration>())
      detail::observe_control(
          e, at, n, observed_control_of<S, while_scan_t, loop_results<S>, State, Condition, Iteration>,
          hook_operands(e, at, n, false));
    else
      detail::set_outputs(
          e, at, n, call(e.stack(), while_scan_t{}, e.cells_at(at, n, 0, carried), condition, iteration));
  }
}
template <class S>
void evaluate_while(evaluation_state<S>& e, frame<S>& at, ir::node_id n) {
  if (at.f[n].result_count == at.f[n].operand_count)
    detail::in_form(at, at.f.results_of(n), [&](auto form) { while_in(form, e, at, n); });
  else
    evaluate_while_scan(e, at, n);
}

// ---- map

template <class Form, class S>
void map_in(Form, evaluation_state<S>& e, frame<S>& at, ir::node_id n) {
  using Arrays = std::conditional_t<Form::is_one, typename Form::type, std::vector<array_cell<S>>>;
  using I = wrap_t<S, i64>;
  row_sizes sizes;
  auto element = [&](auto const& i) {
    auto const all = detail::run_region_on(e, at, at.f.region_at(n, 0), I(wrap(e.stack(), i)));
    detail::check_rows<S>("map", sizes, all, 0);
    if constexpr (Form::is_one)
      return one_value_form<S, typename plain_t<Arrays>::value_type>::of(all);
    else
      return detail::cells_as<element_cell<S>>(all);
  };
  using Element = decltype(element);
  if constexpr (!Form::is_one) detail::reject_list<S, tabulate_t, types<Arrays, I, Element>>(at, n);
  if constexpr (is_called_on_list<
                    S, tabulate_t, Form, types<Arrays, I, Element>,
                    types<std::vector<array_cell<S>>, I, Element>>())
    map_in(list_form<S>{}, e, at, n);
  else if constexpr (is_copied<S, tabulate_t, Arrays, I, Element>())
    copy_operation(e, at, n);
  else {
    if constexpr (is_kept<S, tabulate_t, Arrays, I, Element>())
      detail::observe_control(
          e, at, n, observed_control_of<S, tabulate_t, Arrays, I, Element>, symbols_at(e, at, n));
    else {
      auto const arrays = call(e.stack(), tabulate, e.integer(at, n, 0), element);
      if constexpr (Form::is_one)
        detail::set_results(at, n, Form::cells(arrays));
      else
        detail::set_arrays(e, at, n, 0, arrays);
    }
  }
}
template <class S>
void evaluate_map(evaluation_state<S>& e, frame<S>& at, ir::node_id n) {
  refuse_named<S, map_t, tabulate_t>(replaced_by_staging);
  detail::in_form(at, at.f.results_of(n), [&]<class Form>(Form form) {
    if constexpr (!Form::is_one || is_array<plain_t<typename Form::type>>)
      map_in(form, e, at, n); // a map has no other results
  });
}

// ---- protect

// An exception runs the second region, and is rethrown.
template <class S>
void evaluate_protect(evaluation_state<S>& e, frame<S>& at, ir::node_id n) {
  if constexpr (is_symbolic<S>) {
    ir::node_id const made =
        e.recorder().insert(ir::op::protect, {}, {}, {}, std::vector<std::vector<ir::type>>(2));
    for (std::uint32_t i = 0; i < 2; ++i) stage_region(e, at, n, made, i);
    set_staged_results(e, at, n, made);
  } else {
    try {
      detail::set_results(at, n, run_region(e, at, at.f.region_at(n, 0), {}));
    } catch (...) {
      evaluation_place const first = e.failed();
      e.set_failed({});
      (void)run_region_on(e, at, at.f.region_at(n, 1)); // an exception in it has its own location
      e.set_failed(first);
      throw;
    }
  }
}

} // namespace overdub::detail
