// The evaluator: branches, loops, maps and accumulators.
#pragma once

#include <overdub/stage/evaluator.hpp>
#include <overdub/stage/program_function.hpp>
#include <overdub/stage/sum_of_numbers.hpp>

namespace overdub::detail {

// ---- control

inline constexpr char const* replaced_by_staging =
    "a program that was staged before has `tabulate`, or an indexed loop, in its place; stage the function "
    "of C++ in the context";

template <class S>
void evaluator<S>::branch(frame& at, ir::node_id n) {
  auto take = [&](std::uint32_t i) { return [&, i] { return region(at, at.f.region_at(n, i)); }; };
  using Branch = decltype(take(0));
  if constexpr (is_copied<if_t, std::vector<any>, in<bool>, Branch, Branch>())
    copy(at, n);
  else if (gives_functions(at, n))
    branch_to_functions(at, n);
  else
    set_all(at, n, call(stack_, if_, typed<bool>(at, at.f.operand(n, 0)), take(0), take(1)));
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
  ir::region_id const body = at.f.region_at(n, 0);
  std::uint32_t const carried = x.operand_count - 1;
  row_sizes sizes;
  auto whole = [&](auto const& i, std::vector<any> const& state) {
    return region(at, body, in<i64>(wrap(stack_, i)), state);
  };
  auto iteration = [&](auto const& i, std::vector<any> const& state) {
    return step_of("map", sizes, whole(i, state), carried);
  };
  using State = std::vector<any>;
  using Outputs = std::tuple<State, std::vector<any_array>>;
  if (x.result_count > carried) refuse_named<scan_t, indexed_scan_t<false>>(replaced_by_staging);
  if constexpr (
      is_copied<loop_t, State, in<i64>, State, decltype(whole)>() &&
      is_copied<indexed_scan_t<false>, Outputs, in<i64>, State, decltype(iteration)>() &&
      is_copied<indexed_scan_t<true>, Outputs, in<i64>, State, decltype(iteration)>())
    return copy(at, n);
  else {
    if (gives_functions(at, n)) return loop_on_functions(at, n);
    auto const count = integer(at, n, 0);
    auto const start = cells(at, n, 1, carried);
    if (x.result_count == carried && !x.attributes.is_reversed())
      set_all(at, n, call(stack_, loop, count, start, whole));
    else if (x.attributes.is_reversed())
      set_outputs(at, n, call(stack_, indexed_scan_t<true>{}, count, start, iteration));
    else
      set_outputs(at, n, call(stack_, indexed_scan_t<false>{}, count, start, iteration));
  }
}
template <class S>
void evaluator<S>::run_while(frame& at, ir::node_id n) {
  node const& x = at.f[n];
  std::uint32_t const carried = x.operand_count;
  row_sizes sizes;
  auto condition = [&](std::vector<any> const& state) {
    return *region(at, at.f.region_at(n, 0), state)[0].template get<in<bool>>();
  };
  auto body = [&](std::vector<any> const& state) { return region(at, at.f.region_at(n, 1), state); };
  auto iteration = [&](std::vector<any> const& state) {
    return step_of("while", sizes, body(state), carried);
  };
  using State = std::vector<any>;
  using Outputs = std::tuple<State, std::vector<any_array>>;
  if (x.result_count > carried)
    refuse_named<while_t, while_scan_t>(
        "the program has a `while` with outputs, to which it does not apply; apply the context before a "
        "transformation, such as a gradient, adds the outputs");
  if constexpr (
      is_copied<while_t, State, State, decltype(condition), decltype(body)>() &&
      is_copied<while_scan_t, Outputs, State, decltype(condition), decltype(iteration)>())
    return copy(at, n);
  else {
    if (gives_functions(at, n)) return loop_on_functions(at, n);
    auto const start = cells(at, n, 0, carried);
    if (x.result_count == carried)
      set_all(at, n, call(stack_, while_, start, condition, body));
    else
      set_outputs(at, n, call(stack_, while_scan_t{}, start, condition, iteration));
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
  row_sizes sizes;
  auto element = [&](auto const& i) {
    auto const all = region(at, at.f.region_at(n, 0), in<i64>(wrap(stack_, i)));
    check_rows("map", sizes, all, 0);
    return narrowed_all<any_element>(all);
  };
  if constexpr (is_copied<tabulate_t, std::vector<any_array>, in<i64>, decltype(element)>())
    copy(at, n);
  else
    set_arrays(at, n, 0, call(stack_, tabulate, integer(at, n, 0), element));
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
template <class S>
void evaluator<S>::add_to(frame& at, ir::node_id n) {
  if constexpr (symbolic)
    add_to_symbols(at, n);
  else {
    std::uint32_t const last = at.f[n].operand_count - 1;
    any const x = cell_of(at, at.f.operand(n, last));
    any& sum = at.slots[index_of(at.f.operand(n, 0))].leaf;
    sum = updated(at, n, sum, 1, last, [&](any const& part) { return added(part, x); });
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
// The additions of an accumulator are not calls of `add`, since their order is unspecified. Metadata that do not consist of numbers, or
// have one type for all values, are combined by the context's rule for `add`.
template <class S>
auto evaluator<S>::added(any const& a, any const& b) const -> any {
  return opened(a, [&]<class T>(auto const& x, std::type_identity<T>) -> any {
    auto const& y = *b.template get<in<T>>();
    if constexpr (!is_of_numbers<T>)
      return {};
    else if constexpr (is_of_numbers<in<T>>)
      return sum_of_numbers(in<T>(x), y);
    else
      return in<T>(add_elements{}(x, y));
  });
}

} // namespace overdub::detail
