// The evaluator: branches, loops, maps, reductions and accumulators.
#pragma once

#include <overdub/stage/evaluator.hpp>
#include <overdub/stage/program_function.hpp>
#include <overdub/stage/sum_of_numbers.hpp>

#include <cstdlib>

namespace overdub::detail {

// ---- control

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
template <class S>
void evaluator<S>::run_loop(frame& at, ir::node_id n) {
  node const& x = at.f[n];
  ir::region_id const body = at.f.region_at(n, 0);
  std::uint32_t const carried = x.operand_count - 1;
  row_sizes sizes;
  auto whole = [&](auto const& i, std::vector<any> const& state) {
    return region(at, body, in<i64>(wrap(stack_, i)), state);
  };
  auto step = [&](auto const& i, std::vector<any> const& state) {
    auto all = whole(i, state);
    check_rows("map", sizes, all, carried);
    std::vector<any_element> outputs;
    for (std::size_t k = carried; k < all.size(); ++k) outputs.push_back(narrowed<any_element>(all[k]));
    all.resize(carried);
    return std::tuple{std::move(all), std::move(outputs)};
  };
  using State = std::vector<any>;
  using Outputs = std::tuple<State, std::vector<any_array>>;
  if (x.result_count > carried) refuse_named<scan_t, indexed_scan_t<false>>();
  if constexpr (
      is_copied<loop_t, State, in<i64>, State, decltype(whole)>() &&
      is_copied<indexed_scan_t<false>, Outputs, in<i64>, State, decltype(step)>() &&
      is_copied<indexed_scan_t<true>, Outputs, in<i64>, State, decltype(step)>())
    return copy(at, n);
  else {
    if (gives_functions(at, n)) return loop_on_functions(at, n);
    auto const count = integer(at, n, 0);
    auto const start = cells(at, n, 1, carried);
    if (x.result_count == carried && !x.attributes.is_reversed())
      return set_all(at, n, call(stack_, loop, count, start, whole));
    auto finish = [&](auto const& result) {
      set_all(at, n, std::get<0>(result));
      set_arrays(at, n, carried, std::get<1>(result));
    };
    if (x.attributes.is_reversed())
      finish(call(stack_, indexed_scan_t<true>{}, count, start, step));
    else
      finish(call(stack_, indexed_scan_t<false>{}, count, start, step));
  }
}
// Stacked results are loop-carried arrays that grow.
template <class S>
void evaluator<S>::run_while(frame& at, ir::node_id n) {
  node const& x = at.f[n];
  std::uint32_t const carried = x.operand_count;
  row_sizes sizes;
  auto condition = [&](std::vector<any> state) {
    state.resize(carried);
    return *region(at, at.f.region_at(n, 0), state)[0].template get<in<bool>>();
  };
  auto body = [&](std::vector<any> const& state) {
    auto next = region(at, at.f.region_at(n, 1), std::vector<any>(state.begin(), state.begin() + carried));
    check_rows("while", sizes, next, carried);
    for (std::size_t k = carried; k < next.size(); ++k) next[k] = extended(state[k], next[k]);
    return next;
  };
  using State = std::vector<any>;
  if constexpr (is_copied<while_t, State, State, decltype(condition), decltype(body)>())
    return copy(at, n);
  else {
    if (gives_functions(at, n)) return loop_on_functions(at, n);
    auto start = cells(at, n, 0, carried);
    for (std::uint32_t i = carried; i < x.result_count; ++i)
      start.push_back(empty_array(at.f.type_of(at.f.result(n, i))));
    set_all(at, n, call(stack_, while_, start, condition, body));
  }
}
template <class S>
auto evaluator<S>::extended(any const& arrays, any const& element) -> any {
  return opened(arrays, [&]<class T>(auto const& a, std::type_identity<T>) -> any {
    if constexpr (is_array<T>) {
      auto const& e = *element.template get<in<typename T::value_type>>();
      return in<T>(
          call(stack_, overdub::concat, a, in<T>(call(stack_, overdub::fill, wrap(stack_, i64{1}), e))));
    } else
      return {};
  });
}
// Throws evaluation_error if a rule or hook names F. Staging replaced F by Replacement: `map` by `tabulate`, and `scan` by an indexed loop.
template <class S>
template <class F, class Replacement>
void evaluator<S>::refuse_named() const {
  if constexpr (any_names<S, F, Replacement>())
    throw evaluation_error(message(
        "overdub: a context has a rule or a hook for `%.*s`, and a program that was staged before has "
        "`tabulate`, or an "
        "indexed loop, in its place; stage the function of C++ in the context",
        static_cast<int>(F::name().size()), F::name().data()));
}
template <class S>
void evaluator<S>::run_map(frame& at, ir::node_id n) {
  refuse_named<map_t, tabulate_t>();
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

// ---- reductions

template <class S>
void evaluator<S>::run_reduce(frame& at, ir::node_id n) {
  node const& x = at.f[n];
  std::uint32_t const arrays = x.attributes.is_started() ? x.operand_count / 2 : x.operand_count;
  if (arrays != 1) return reduce_several(at, n, arrays);
  ir::type const t = at.f.type_of(at.f.operand(n, 0));
  auto const of_arrays = [&]<class T>(std::type_identity<T>) {
    if constexpr (is_array<T>) {
      using E = typename T::value_type;
      if constexpr (are_reductions_kept<E>())
        stage_reduction<E>(at, n);
      else if (x.region_count > 0) {
        auto combine = [&](auto const& l, auto const& r) {
          return *region(at, at.f.region_at(n, 0), in<E>(wrap(stack_, l)), in<E>(wrap(stack_, r)))[0]
                      .template get<in<E>>();
        };
        if (!x.attributes.is_in_lanes()) return reduce_by<E>(at, n, combine);
        return reduce_by<E>(at, n, summing<decltype(combine)>{combine});
      } else if constexpr (std::is_arithmetic_v<E>)
        reduce_by_operation<E>(at, n);
    }
  };
  if constexpr (keeps_form)
    if (t.rank > 2) return copy(at, n);
  with_type(t, of_arrays);
}
// The type of the function of a reduction, for testing whether contexts intercept the reduction, if the function is not an
// operation. It is never called. (Clang warns of a call operator without a body if E is local to a translation unit.)
template <class E>
struct combination {
  void const* region;
  [[noreturn]] E operator()(E const&, E const&) const { std::abort(); }
};

// Whether no context replaces a reduction. Contexts may observe it, and may observe or replace the operation that combines elements.
template <class S>
template <class E>
consteval bool evaluator<S>::are_reductions_kept() {
  if constexpr (!keeps_form)
    return false;
  else {
    using C = combination<in<E>>;
    constexpr bool by_region =
        is_kept<reduce_t, in<E>, C, in<array<E>>>() && is_kept<reduce_t, in<E>, C, in<E>, in<array<E>>>();
    if constexpr (std::is_arithmetic_v<E> && !std::is_same_v<E, bool>)
      return by_region && is_kept<reduce_t, in<E>, add_t, in<array<E>>>() &&
             is_kept<reduce_t, in<E>, add_t, in<E>, in<array<E>>>();
    else
      return by_region;
  }
}
template <class S>
template <class E, class F>
auto evaluator<S>::observations_of_reduction(bool is_started) -> std::span<observation const> {
  using A = in<array<E>>;
  if (is_started) return observations<S, reduce_t, in<E>, F, in<E>, A>;
  return observations<S, reduce_t, in<E>, F, A>;
}
template <class S>
template <class E>
void evaluator<S>::stage_reduction(frame& at, ir::node_id n) {
  ir::attributes const& a = at.f[n].attributes;
  std::span<observation const> contexts = observations_of_reduction<E, combination<in<E>>>(a.is_started());
  bool is_combination_intercepted = false;
  if constexpr (std::is_arithmetic_v<E>)
    if (at.f[n].region_count == 0) {
      is_combination_intercepted = combine_table<S, E>::is_intercepted(a.operation);
      if constexpr (!std::is_same_v<E, bool>)
        if (a.operation == ir::op::add) contexts = observations_of_reduction<E, add_t>(a.is_started());
    }
  std::vector<ir::value_id> arguments = symbols_at(at, n);
  if (a.is_started()) std::swap(arguments[0], arguments[1]); // hooks get reduce(f, initial, array)
  ir::value_id const result = at.f.result(n);
  set_symbol(at, result, stage_between_hooks(reduce_t::name(), contexts, arguments, [&] {
               if (is_combination_intercepted) return reduction_by_operation(at, n);
               copy(at, n);
               return at.slots[index_of(result)].symbol;
             }));
}
// Stages a reduction by an operation that a context intercepts as a reduction by a region, in which the context intercepts it.
template <class S>
auto evaluator<S>::reduction_by_operation(frame& at, ir::node_id n) -> ir::value_id {
  ir::type const element = at.f.type_of(at.f.result(n));
  ir::attributes by_region;
  by_region.flags = at.f[n].attributes.flags;
  if (at.f[n].attributes.operation == ir::op::add && element.is_floating())
    by_region.flags |= ir::attributes::in_lanes;
  ir::program const combination = combination_by(at.f[n].attributes.operation, element);
  recorder& r = recorder_();
  std::vector<std::vector<ir::type>> const regions{{element, element}};
  ir::node_id const made =
      r.insert(ir::op::reduce, symbols_at(at, n), std::vector{element}, by_region, regions);
  auto const scope = r.enter(r.region_of(made, 0));
  std::vector<slot> sides;
  for (std::uint32_t side = 0; side < 2; ++side)
    sides.push_back({{}, nullptr, {}, r.here().argument(r.here().region_at(made, 0), side), element});
  ir::function const& f = combination[combination.entry];
  frame of_combination{f, std::vector<slot>(f.value_count())};
  std::vector<slot> const combined = region_slots(of_combination, ir::function::body, std::move(sides));
  r.yield(std::vector{symbol_of(combined[0])});
  return r.here().result(made);
}
template <class S>
template <class E, class F>
void evaluator<S>::reduce_by(frame& at, ir::node_id n, F const& f) {
  using A = in<array<E>>;
  constexpr bool is_kept = is_copied<reduce_t, in<E>, F, A>() && is_copied<reduce_t, in<E>, F, in<E>, A>();
  if constexpr (is_kept && !may_intercept_combination<E, F>())
    copy(at, n);
  else {
    if constexpr (is_kept && names_operation<F>)
      if (!f.is_intercepted) return copy(at, n);
    A const xs = typed<array<E>>(at, at.f.operand(n, 0));
    if (at.f[n].attributes.is_started())
      set(at, at.f.result(n), call(stack_, reduce, f, typed<E>(at, at.f.operand(n, 1)), xs));
    else
      set(at, at.f.result(n), call(stack_, reduce, f, xs));
  }
}
// Whether a context may intercept the operation that combines two elements. (Operations of a region are tested themselves.)
template <class S>
template <class E, class F>
consteval bool evaluator<S>::may_intercept_combination() {
  if constexpr (names_operation<F>)
    return combine_table<S, E>::is_any_intercepted;
  else if constexpr (overdub::elementwise<F>)
    return !is_copied<F, in<E>, in<E>, in<E>>();
  else
    return false;
}
// Only `add` is passed by its type: the order of sums is special, and contexts may name `add`.
template <class S>
template <class E>
void evaluator<S>::reduce_by_operation(frame& at, ir::node_id n) {
  ir::op const operation = at.f[n].attributes.operation;
  if constexpr (!std::is_same_v<E, bool>)
    if (operation == ir::op::add) return reduce_by<E>(at, n, overdub::add);
  if constexpr (on_numbers && std::is_floating_point_v<E>)
    if (is_consistent() && ir::is_elementary(operation)) {
      auto const f = ir::consistent->of<E>().two[static_cast<std::size_t>(operation)];
      return reduce_by<E>(at, n, [f](E l, E r) { return f(l, r); });
    }
  auto const by_number = [&](auto const& l, auto const& r) {
    return combine_table<S, E>::find(operation)(stack_, in<E>(wrap(stack_, l)), in<E>(wrap(stack_, r)));
  };
  bool const is_intercepted = combine_table<S, E>::is_intercepted(operation);
  reduce_by<E>(at, n, named<decltype(by_number)>{by_number, operation, is_intercepted});
}
template <class S>
void evaluator<S>::reduce_several(frame& at, ir::node_id n, std::uint32_t arrays) {
  auto combine = [&](auto const& x, auto const& y) {
    return narrowed_all<any_element>(region(at, at.f.region_at(n, 0), x, y));
  };
  using Element = std::vector<any_element>;
  using Arrays = std::vector<any_array>;
  if constexpr (
      is_copied<reduce_t, Element, decltype(combine), Arrays>() &&
      is_copied<reduce_t, Element, decltype(combine), Element, Arrays>())
    return copy(at, n);
  auto const xs = narrowed_all<any_array>(cells(at, n, 0, arrays));
  auto by = [&](auto const& f) {
    if (at.f[n].attributes.is_started())
      return narrowed_all<any>(
          call(stack_, reduce, f, narrowed_all<any_element>(cells(at, n, arrays, arrays)), xs));
    return narrowed_all<any>(call(stack_, reduce, f, xs));
  };
  set_all(at, n, at.f[n].attributes.is_in_lanes() ? by(summing<decltype(combine)>{combine}) : by(combine));
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
