// The evaluator: branches, loops, maps and accumulators.
#pragma once

#include <overdub/ir/regions.hpp>
#include <overdub/stage/evaluator.hpp>
#include <overdub/stage/program_function.hpp>
#include <overdub/stage/sum_of_numbers.hpp>

namespace overdub::detail {

// ---- control

inline constexpr char const* replaced_by_staging =
    "a program that was staged before has `tabulate`, or an indexed loop, in its place; stage the function "
    "of C++ in the context";

// A control primitive receives one value as itself, and several as a list: rules and hooks that are declared for a type receive a value of
// this type, as in C++.
template <class S>
template <class T>
struct evaluator<S>::one_value {
  static constexpr bool is_one = true;
  using type = in<T>;
  static type of(std::vector<any> const& all) { return *all[0].template get<type>(); }
  static std::vector<any> cells(type const& x) { return {any(x)}; }
};
template <class S>
struct evaluator<S>::several_values {
  static constexpr bool is_one = false;
  using type = std::vector<any>;
  static type of(type all) { return all; }
  static type const& cells(type const& all) { return all; }
};
// Calls f with the form in which a control primitive receives these values.
template <class S>
template <class F>
void evaluator<S>::in_form(frame const& at, ir::id_range<ir::value_id> values, F const& f) {
  if constexpr (!S::empty)
    if (values.size() == 1 && is_cell(at.f.type_of(values[0])))
      return with_type(at.f.type_of(values[0]), [&]<class T>(std::type_identity<T>) { f(one_value<T>{}); });
  f(several_values{});
}
// Whether F is called on a list of one value: no context distinguishes this call, of the types Several, from one of the types One.
template <class S>
template <class F, class Form, class One, class Several>
consteval bool evaluator<S>::is_called_on_list() {
  if constexpr (Form::is_one && !keeps_form)
    return []<class R, class... X, class Rs, class... Xs>(types<R, X...>, types<Rs, Xs...>) {
      return !any_distinguishes<S, F, R, Rs>(types<X...>{}, types<Xs...>{});
    }(One{}, Several{});
  else
    return false;
}
// The operands of hooks that observe a loop: its number of iterations, if any, and the loop-carried value, or an empty value for several.
template <class S>
template <class Form>
auto evaluator<S>::hook_operands(frame& at, ir::node_id n) -> std::vector<ir::value_id> {
  std::vector<ir::value_id> all = symbols_at(at, n);
  if constexpr (!Form::is_one) {
    all.resize(ir::region_flow(at.f, n).leading_operands());
    all.push_back(recorder_().literal(empty_cell));
  }
  return all;
}
// Copies a control operation between the calls of the hooks that observe it.
template <class S>
template <class F, class R, class... X>
void evaluator<S>::observe_control(frame& at, ir::node_id n, std::vector<ir::value_id> const& operands) {
  if constexpr (keeps_form) { // otherwise never called
    auto const operands_after = [&](std::span<ir::value_id const> results) {
      std::vector<ir::value_id> all;
      if constexpr (is_list<R>)
        all.push_back(recorder_().literal(empty_cell));
      else if constexpr (is_value<R>)
        all.push_back(results[0]);
      all.insert(all.end(), operands.begin(), operands.end());
      return all;
    };
    auto const stage = [&] {
      copy(at, n);
      std::vector<ir::value_id> all;
      for (ir::value_id const v : at.f.results_of(n)) all.push_back(symbol_of(at.slots[index_of(v)]));
      return all;
    };
    auto const objects = objects_of(stack_);
    auto const results = stage_observed(
        recorder_(), {F::name(), observations<S, F, R, X...>, objects, operands, operands_after, stage});
    for (std::uint32_t i = 0; i < results.size(); ++i) set_symbol(at, at.f.result(n, i), results[i]);
  }
}
// Throws evaluation_error for several values if a context names F for values that are trees in C++.
template <class S>
template <class F, class Call>
void evaluator<S>::reject_list(frame const& at, ir::node_id n) {
  if constexpr (any_rejects_list<S, F>(Call{}))
    if (at.f[n].result_count > 1)
      throw evaluation_error(message(
          "overdub: a context has a hook for `%.*s` that takes a tree, such as a tuple, and the program has "
          "one with several values, "
          "which hooks do not receive there; stage the function of C++ in the context, or declare the "
          "parameter `auto const&`",
          static_cast<int>(F::name().size()), F::name().data()));
}

template <class S>
void evaluator<S>::branch(frame& at, ir::node_id n) {
  branch_between(at, n, [&](std::uint32_t i) { return region(at, at.f.region_at(n, i)); });
}
// Evaluates `select` of arrays or function values as a branch.
template <class S>
void evaluator<S>::select_other(frame& at, ir::node_id n) {
  branch_between(at, n, [&](std::uint32_t i) { return cells(at, n, 1 + i, 1); });
}
// A branch that returns the values given(0) or given(1).
template <class S>
template <class Given>
void evaluator<S>::branch_between(frame& at, ir::node_id n, Given const& given) {
  in_form(at, at.f.results_of(n), [&](auto form) { branch_in(form, at, n, given); });
}
template <class S>
template <class Form, class Given>
void evaluator<S>::branch_in(Form, frame& at, ir::node_id n, Given const& given) {
  auto take = [&](std::uint32_t i) { return [&, i] { return Form::of(given(i)); }; };
  using R = typename Form::type;
  using Branch = decltype(take(0));
  if constexpr (!Form::is_one) reject_list<if_t, types<R, in<bool>, Branch, Branch>>(at, n);
  if constexpr (is_called_on_list<
                    if_t, Form, types<R, in<bool>, Branch, Branch>,
                    types<std::vector<any>, in<bool>, Branch, Branch>>())
    branch_in(several_values{}, at, n, given);
  else if constexpr (is_copied<if_t, R, in<bool>, Branch, Branch>())
    copy(at, n);
  else if (gives_functions(at, n))
    at.f[n].code == ir::op::select ? select_function(at, n) : branch_to_functions(at, n);
  else if constexpr (is_kept<if_t, R, in<bool>, Branch, Branch>())
    observe_control<if_t, R, in<bool>, Branch, Branch>(at, n, {symbol_at(at, at.f.operand(n, 0))});
  else
    set_all(at, n, Form::cells(call(stack_, if_, typed<bool>(at, at.f.operand(n, 0)), take(0), take(1))));
}
// The results of an iteration: the loop-carried values, and the outputs.
template <class S>
auto evaluator<S>::step_of(std::string_view op, row_sizes& sizes, std::vector<any> all, std::uint32_t carried)
    -> step {
  check_rows(op, sizes, all, carried);
  std::vector<any_element> outputs;
  for (std::size_t k = carried; k < all.size(); ++k) outputs.push_back(narrowed<any_element>(all[k]));
  all.resize(carried);
  return {std::move(all), std::move(outputs)};
}
template <class S>
void evaluator<S>::set_outputs(
    frame& at, ir::node_id n, std::tuple<std::vector<any>, std::vector<any_array>> const& results) {
  auto const& [state, arrays] = results;
  set_all(at, n, state);
  set_arrays(at, n, state.size(), arrays);
}
template <class S>
void evaluator<S>::run_loop(frame& at, ir::node_id n) {
  node const& x = at.f[n];
  if (x.result_count == x.operand_count - 1 && !x.attributes.is_reversed())
    in_form(at, at.f.results_of(n), [&](auto form) { loop_in(form, at, n); });
  else
    run_scan(at, n);
}
template <class S>
template <class Form>
void evaluator<S>::loop_in(Form, frame& at, ir::node_id n) {
  using State = typename Form::type;
  auto body = [&](auto const& i, State const& state) {
    return Form::of(region(at, at.f.region_at(n, 0), in<i64>(wrap(stack_, i)), state));
  };
  using Body = decltype(body);
  if constexpr (!Form::is_one) reject_list<loop_t, types<State, in<i64>, State, Body>>(at, n);
  if constexpr (is_called_on_list<
                    loop_t, Form, types<State, in<i64>, State, Body>,
                    types<std::vector<any>, in<i64>, std::vector<any>, Body>>())
    loop_in(several_values{}, at, n);
  else if constexpr (is_copied<loop_t, State, in<i64>, State, Body>())
    copy(at, n);
  else if (gives_functions(at, n))
    loop_on_functions(at, n);
  else {
    if constexpr (is_kept<loop_t, State, in<i64>, State, Body>())
      observe_control<loop_t, State, in<i64>, State, Body>(at, n, hook_operands<Form>(at, n));
    else {
      State const start = Form::of(cells(at, n, 1, at.f[n].operand_count - 1));
      set_all(at, n, Form::cells(call(stack_, loop, integer(at, n, 0), start, body)));
    }
  }
}
template <class S>
void evaluator<S>::run_scan(frame& at, ir::node_id n) {
  node const& x = at.f[n];
  ir::region_id const body = at.f.region_at(n, 0);
  std::uint32_t const carried = x.operand_count - 1;
  row_sizes sizes;
  auto iteration = [&](auto const& i, std::vector<any> const& state) {
    return step_of("map", sizes, region(at, body, in<i64>(wrap(stack_, i)), state), carried);
  };
  using State = std::vector<any>;
  using Outputs = std::tuple<State, std::vector<any_array>>;
  if (x.result_count > carried) refuse_named<scan_t, indexed_scan_t<false>>(replaced_by_staging);
  if constexpr (
      is_copied<indexed_scan_t<false>, Outputs, in<i64>, State, decltype(iteration)>() &&
      is_copied<indexed_scan_t<true>, Outputs, in<i64>, State, decltype(iteration)>())
    return copy(at, n);
  else {
    if (gives_functions(at, n)) return loop_on_functions(at, n);
    auto const scan = [&]<bool Reversed>(std::bool_constant<Reversed>) {
      using F = indexed_scan_t<Reversed>;
      if constexpr (is_kept<F, Outputs, in<i64>, State, decltype(iteration)>())
        observe_control<F, Outputs, in<i64>, State, decltype(iteration)>(
            at, n, hook_operands<several_values>(at, n));
      else
        set_outputs(at, n, call(stack_, F{}, integer(at, n, 0), cells(at, n, 1, carried), iteration));
    };
    if (x.attributes.is_reversed())
      scan(std::true_type{});
    else
      scan(std::false_type{});
  }
}
template <class S>
void evaluator<S>::run_while(frame& at, ir::node_id n) {
  if (at.f[n].result_count == at.f[n].operand_count)
    in_form(at, at.f.results_of(n), [&](auto form) { while_in(form, at, n); });
  else
    run_while_scan(at, n);
}
template <class S>
template <class State>
auto evaluator<S>::condition_of(frame& at, ir::node_id n, State const& state) -> in<bool> {
  return *region(at, at.f.region_at(n, 0), state)[0].template get<in<bool>>();
}
template <class S>
template <class Form>
void evaluator<S>::while_in(Form, frame& at, ir::node_id n) {
  using State = typename Form::type;
  auto condition = [&](State const& state) { return condition_of(at, n, state); };
  auto body = [&](State const& state) { return Form::of(region(at, at.f.region_at(n, 1), state)); };
  using Condition = decltype(condition);
  using Body = decltype(body);
  if constexpr (!Form::is_one) reject_list<while_t, types<State, State, Condition, Body>>(at, n);
  if constexpr (is_called_on_list<
                    while_t, Form, types<State, State, Condition, Body>,
                    types<std::vector<any>, std::vector<any>, Condition, Body>>())
    while_in(several_values{}, at, n);
  else if constexpr (is_copied<while_t, State, State, Condition, Body>())
    copy(at, n);
  else if (gives_functions(at, n))
    loop_on_functions(at, n);
  else {
    if constexpr (is_kept<while_t, State, State, Condition, Body>())
      observe_control<while_t, State, State, Condition, Body>(at, n, hook_operands<Form>(at, n));
    else {
      State const start = Form::of(cells(at, n, 0, at.f[n].operand_count));
      set_all(at, n, Form::cells(call(stack_, while_, start, condition, body)));
    }
  }
}
template <class S>
void evaluator<S>::run_while_scan(frame& at, ir::node_id n) {
  std::uint32_t const carried = at.f[n].operand_count;
  row_sizes sizes;
  using State = std::vector<any>;
  using Outputs = std::tuple<State, std::vector<any_array>>;
  auto condition = [&](State const& state) { return condition_of(at, n, state); };
  auto iteration = [&](State const& state) {
    return step_of("while", sizes, region(at, at.f.region_at(n, 1), state), carried);
  };
  refuse_named<while_t, while_scan_t>(
      "the program has a `while` with outputs, to which it does not apply; apply the context before a "
      "transformation, such as a gradient, adds the outputs");
  if constexpr (is_copied<while_scan_t, Outputs, State, decltype(condition), decltype(iteration)>())
    return copy(at, n);
  else {
    if (gives_functions(at, n)) return loop_on_functions(at, n);
    if constexpr (is_kept<while_scan_t, Outputs, State, decltype(condition), decltype(iteration)>())
      observe_control<while_scan_t, Outputs, State, decltype(condition), decltype(iteration)>(
          at, n, hook_operands<several_values>(at, n));
    else
      set_outputs(at, n, call(stack_, while_scan_t{}, cells(at, n, 0, carried), condition, iteration));
  }
}
// Throws evaluation_error if a rule or hook names F, and the program has Replacement.
template <class S>
template <class F, class Replacement>
void evaluator<S>::refuse_named(char const* why) const {
  if constexpr (any_names<S, F, Replacement>())
    throw evaluation_error(message(
        "overdub: a context has a rule or a hook for `%.*s`, and %s", static_cast<int>(F::name().size()),
        F::name().data(), why));
}
template <class S>
void evaluator<S>::run_map(frame& at, ir::node_id n) {
  refuse_named<map_t, tabulate_t>(replaced_by_staging);
  in_form(at, at.f.results_of(n), [&]<class Form>(Form form) {
    if constexpr (!Form::is_one || is_array<plain_t<typename Form::type>>)
      map_in(form, at, n); // a map has no other results
  });
}
template <class S>
template <class Form>
void evaluator<S>::map_in(Form, frame& at, ir::node_id n) {
  using Arrays = std::conditional_t<Form::is_one, typename Form::type, std::vector<any_array>>;
  row_sizes sizes;
  auto element = [&](auto const& i) {
    auto const all = region(at, at.f.region_at(n, 0), in<i64>(wrap(stack_, i)));
    check_rows("map", sizes, all, 0);
    if constexpr (Form::is_one)
      return one_value<typename plain_t<Arrays>::value_type>::of(all);
    else
      return narrowed_all<any_element>(all);
  };
  using Element = decltype(element);
  if constexpr (!Form::is_one) reject_list<tabulate_t, types<Arrays, in<i64>, Element>>(at, n);
  if constexpr (is_called_on_list<
                    tabulate_t, Form, types<Arrays, in<i64>, Element>,
                    types<std::vector<any_array>, in<i64>, Element>>())
    map_in(several_values{}, at, n);
  else if constexpr (is_copied<tabulate_t, Arrays, in<i64>, Element>())
    copy(at, n);
  else {
    if constexpr (is_kept<tabulate_t, Arrays, in<i64>, Element>())
      observe_control<tabulate_t, Arrays, in<i64>, Element>(at, n, symbols_at(at, n));
    else {
      auto const arrays = call(stack_, tabulate, integer(at, n, 0), element);
      if constexpr (Form::is_one)
        set_all(at, n, Form::cells(arrays));
      else
        set_arrays(at, n, 0, arrays);
    }
  }
}

// ---- accumulators: cells, or, in symbolic contexts, accumulators of the staged program

template <class S>
void evaluator<S>::accumulate(frame& at, ir::node_id n) {
  node const& x = at.f[n];
  ir::region_id const body = at.f.region_at(n, 0);
  if constexpr (symbolic) {
    accumulate_symbols(at, n);
  } else {
    std::vector<slot> start;
    for (std::uint32_t i = 0; i < x.operand_count; ++i) start.push_back(slot_of(at, at.f.operand(n, i)));
    auto const further = region_slots(at, body, std::move(start));
    for (std::uint32_t i = 0; i < x.operand_count; ++i)
      at.slots[index_of(at.f.result(n, i))] = at.slots[index_of(at.f.argument(body, i))];
    for (std::uint32_t i = 0; i < further.size(); ++i)
      at.slots[index_of(at.f.result(n, x.operand_count + i))] = further[i];
  }
}
// The additions of an accumulator, and its accesses to elements, are not calls, since their order is unspecified. Metadata that do not
// consist of numbers, or have one type for all values, are combined by the context's rules.
template <class S>
void evaluator<S>::add_to(frame& at, ir::node_id n) {
  if constexpr (symbolic)
    add_to_symbols(at, n);
  else {
    std::uint32_t const last = at.f[n].operand_count - 1;
    any const x = cell_of(at, at.f.operand(n, last));
    any& sum = at.slots[index_of(at.f.operand(n, 0))].leaf;
    std::vector<i64> indices;
    for (std::uint32_t i = 1; i < last; ++i) indices.push_back(make_concrete{}(integer(at, n, i)));
    auto const adds = [&]<class E>(auto& whole, std::type_identity<array<E>>) {
      auto const add_part = [&]<class Part>(std::type_identity<Part>) {
        in<Part> const* const part = x.template get<in<Part>>();
        if (part != nullptr) whole = add_to_part(std::move(whole), indices, *part);
        return part != nullptr;
      };
      if (add_part(std::type_identity<E>{})) return true;
      if constexpr (is_array<E>)
        return add_part(std::type_identity<typename E::value_type>{});
      else
        return false;
    };
    bool const is_added = sum.visit([&]<class Whole>(Whole& whole) {
      if constexpr (is_array<plain_t<Whole>> && is_of_numbers<Whole>)
        return adds(whole, std::type_identity<plain_t<Whole>>{});
      else
        return false;
    });
    if (!is_added)
      sum = updated(at, n, sum, 1, last, [&](any const& part) { return added_by_rule(part, x); });
  }
}
// Adds by `add`, with interception by the contexts of the values.
struct add_elements {
  template <class X>
  auto operator()(X const& x, X const& y) const {
    if constexpr (is_array<plain_t<X>>)
      return map(*this, x, y);
    else
      return overdub::add(x, y);
  }
};
template <class S>
auto evaluator<S>::added_by_rule(any const& a, any const& b) const -> any {
  return opened(a, [&]<class T>(auto const& x, std::type_identity<T>) -> any {
    if constexpr (is_of_numbers<T> && !is_of_numbers<in<T>>)
      return in<T>(add_elements{}(x, *b.template get<in<T>>()));
    else
      return {};
  });
}

} // namespace overdub::detail
