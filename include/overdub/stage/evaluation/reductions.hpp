// The evaluation of reductions. Contexts receive the operation of a reduction as its C++ primitive, as in a direct run. To compile a dispatch
// for each operation takes long; therefore operations that contexts do not tell apart share one, which finds the operation at run time.
#pragma once

#include <overdub/control/reduce.hpp>
#include <overdub/stage/evaluation/forms.hpp>
#include <overdub/stage/evaluation/thunks.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace overdub::detail {

// A function that combines elements in the order of sums of floating-point numbers.
template <class F>
struct summing {
  F const& f;
  template <class X>
  constexpr auto operator()(X const& a, X const& b) const {
    return f(a, b);
  }
};
template <class F>
inline constexpr bool combines_in_lanes<summing<F>> = true;

// A function that combines elements by an operation.
template <class F>
struct named {
  F const& f;
  ir::op operation;
  bool is_intercepted; // by a context; otherwise the operation is staged
  template <class X>
  constexpr auto operator()(X const& a, X const& b) const {
    return f(a, b);
  }
};

// The type of the function of a reduction, for testing whether contexts intercept the reduction, if the function is not an
// operation. It is never called. (Clang warns of a call operator without a body if E is local to a translation unit.)
template <class E>
struct combination {
  void const* region;
  [[noreturn]] E operator()(E const&, E const&) const { std::abort(); }
};

// How contexts of S, except `staging`, intercept reduce(x...), which returns an R; the first x is the function. Metadata alone are no
// interception.
struct reduction_interest {
  bool by_rule = false; // then hooks of inner contexts are not tested
  bool by_hook = false;
};
template <class S, class R, class... X>
consteval reduction_interest find_interest();
template <class S, class R, class... X>
consteval reduction_interest find_interest_inside(types<X...>) {
  return find_interest<S, R, X...>();
}
template <class S, class R, class... X>
consteval reduction_interest find_interest() {
  if constexpr (!has_contexts<S>())
    return {};
  else if constexpr (has_rule<S, reduce_t, X...>())
    return {.by_rule = true};
  else {
    reduction_interest found;
    if constexpr (has_contexts<typename S::tail>())
      found = find_interest_inside<typename S::tail, inner_t<S, R>>(arguments_inside_t<S, reduce_t, X...>{});
    found.by_hook = found.by_hook || has_hook<S, reduce_t, R, X...>();
    return found;
  }
}

// The hooks of the contexts of S, except `staging`, for reduce(x...), which returns an R.
template <class S, class R, class... X>
constexpr void find_reduction_observations(observation* next, types<X...>) {
  if constexpr (!symbolic<typename S::context>) {
    *next = find_observation<S, reduce_t, R, X...>();
    if constexpr (has_contexts<typename S::tail>())
      find_reduction_observations<typename S::tail, inner_t<S, R>>(
          next + 1, arguments_inside_t<S, reduce_t, X...>{});
  }
}
template <class S, class R, class... X>
OVERDUB_HIDDEN inline constexpr auto observations_of_reduction = [] {
  std::array<observation, S::depth - 1> all{};
  find_reduction_observations<S, R>(all.data(), types<X...>{});
  return all;
}();

template <class S, class E, class F>
consteval reduction_interest interest_in_reduction() {
  using R = wrap_t<S, E>;
  using A = wrap_t<S, array<E>>;
  constexpr reduction_interest plain = find_interest<S, R, F, A>();
  constexpr reduction_interest started = find_interest<S, R, F, R, A>();
  return {plain.by_rule || started.by_rule, plain.by_hook || started.by_hook};
}

// ---- reductions that are called

template <class E, class S, class F>
void reduce_by(evaluation_state<S>& e, frame<S>& at, ir::node_id n, F const& f) {
  wrap_t<S, array<E>> const xs = e.template typed<array<E>>(at, at.f.operand(n, 0));
  if (at.f[n].attributes.is_started())
    e.set(at, at.f.result(n), call(e.stack(), reduce, f, e.template typed<E>(at, at.f.operand(n, 1)), xs));
  else
    e.set(at, at.f.result(n), call(e.stack(), reduce, f, xs));
}

// ---- reductions that are staged

// Stages a reduction by an operation that a context intercepts as a reduction by a region, in which the context intercepts it.
template <class S>
ir::value_id stage_by_operation(evaluation_state<S>& e, frame<S>& at, ir::node_id n) {
  ir::type const element = at.f.type_of(at.f.result(n));
  ir::attributes by_region;
  by_region.flags = at.f[n].attributes.flags;
  if (at.f[n].attributes.operation == ir::op::add && element.is_floating())
    by_region.flags |= ir::attributes::in_lanes;
  ir::program const combination = combination_by(at.f[n].attributes.operation, element);
  recorder& r = e.recorder();
  std::vector<std::vector<ir::type>> const regions{{element, element}};
  ir::node_id const made =
      r.insert(ir::op::reduce, symbols_at(e, at, n), std::vector{element}, by_region, regions);
  auto const scope = r.enter(r.region_of(made, 0));
  std::vector<slot<S>> sides;
  for (std::uint32_t side = 0; side < 2; ++side)
    sides.push_back({.symbol = r.here().argument(r.here().region_at(made, 0), side), .type = element});
  frame<S> of_combination(combination[combination.entry]);
  std::vector<slot<S>> const combined = run_region(e, of_combination, ir::function::body, std::move(sides));
  r.yield(std::vector{detail::symbol_of(e, combined[0])});
  return r.here().result(made);
}
// Stages a reduction that no context replaces, between the calls of the hooks that observe it. Contexts may intercept the operation that
// combines elements.
template <class E, class S>
void stage_reduction(
    evaluation_state<S>& e, frame<S>& at, ir::node_id n, std::span<observation const> contexts) {
  bool is_combination_intercepted = false;
  if constexpr (std::is_arithmetic_v<E>)
    is_combination_intercepted =
        at.f[n].region_count == 0 && combine_table<S, E>::is_intercepted(at.f[n].attributes.operation);
  if (contexts.empty() && !is_combination_intercepted) return copy_operation(e, at, n);
  std::vector<ir::value_id> arguments = symbols_at(e, at, n);
  if (at.f[n].attributes.is_started()) std::swap(arguments[0], arguments[1]); // hooks get (f, initial, array)
  ir::value_id const result = at.f.result(n);
  set_symbol(at, result, stage_between_hooks(e, reduce_t::name(), contexts, arguments, [&] {
               if (is_combination_intercepted) return stage_by_operation(e, at, n);
               copy_operation(e, at, n);
               return at[result].symbol;
             }));
}
// The hooks for a reduction that no context replaces.
struct observed_reduction {
  std::span<observation const> plain, started; // without and with an initial value
  std::span<observation const> of(ir::attributes const& a) const { return a.is_started() ? started : plain; }
};
template <class S, class E, class F>
consteval observed_reduction find_observed_reduction() {
  using R = wrap_t<S, E>;
  using A = wrap_t<S, array<E>>;
  if constexpr (interest_in_reduction<S, E, F>().by_hook)
    return {observations_of_reduction<S, R, F, A>, observations_of_reduction<S, R, F, R, A>};
  else
    return {};
}

// ---- reductions of one array

// Evaluates reductions by an operation that contexts tell from others, as calls of `reduce` with its primitive; by operation code.
template <class S, class E>
class reductions_by_primitive {
public:
  struct entry {
    thunk<S> run = nullptr; // none: it is staged between the calls of hooks
    observed_reduction hooks = {};
  };
  /// Without a function and hooks, if contexts do not distinguish the operation from others.
  static entry const& find(ir::op code) { return rows[static_cast<std::size_t>(code)]; }

private:
  // Whether contexts intercept reductions by F, or reductions by functions that stand for F if they do not distinguish it. A sum always
  // has its primitive, since it has an order of its own, and contexts with metadata may have rules for it.
  template <class F>
  static consteval bool is_distinguished() {
    constexpr reduction_interest found = interest_in_reduction<S, E, F>();
    if constexpr (std::is_same_v<F, add_t> || found.by_rule || found.by_hook)
      return true;
    else if constexpr (keeps_form<S>)
      return false;
    else {
      constexpr reduction_interest other = interest_in_reduction<S, E, combination<wrap_t<S, E>>>();
      return other.by_rule || other.by_hook;
    }
  }
  template <class F>
  static constexpr entry make_row() {
    constexpr ir::type_rule rule = ir::row_of(op_code<F>).types;
    if constexpr (!takes_type<rule, E>() || !combines_type<rule, E>())
      return {};
    else if constexpr (!is_distinguished<F>())
      return {};
    else if constexpr (keeps_form<S> && !interest_in_reduction<S, E, F>().by_rule)
      return {nullptr, find_observed_reduction<S, E, F>()};
    else
      return {
          +[](evaluation_state<S>& e, frame<S>& at, ir::node_id n) { detail::reduce_by<E>(e, at, n, F{}); }};
  }

  OVERDUB_HIDDEN static constexpr std::array<entry, ir::op_count> rows = [] {
    std::array<entry, ir::op_count> all{};
#define OVERDUB_BINARY(NAME, ...) all[static_cast<std::size_t>(ir::op::NAME)] = make_row<NAME##_t>();
#include <overdub/core/ops.def>
    return all;
  }();
};

template <class E, class S>
void reduce_by_region(evaluation_state<S>& e, frame<S>& at, ir::node_id n) {
  using R = wrap_t<S, E>;
  using Combination = combination<R>;
  if constexpr (keeps_form<S> && !interest_in_reduction<S, E, Combination>().by_rule)
    stage_reduction<E>(e, at, n, find_observed_reduction<S, E, Combination>().of(at.f[n].attributes));
  else {
    auto combine = [&](auto const& l, auto const& r) {
      return *run_region_on(e, at, at.f.region_at(n, 0), R(wrap(e.stack(), l)), R(wrap(e.stack(), r)))[0]
                  .template get<R>();
    };
    if (!at.f[n].attributes.is_in_lanes()) return detail::reduce_by<E>(e, at, n, combine);
    return detail::reduce_by<E>(e, at, n, summing<decltype(combine)>{combine});
  }
}
template <class E, class S>
void reduce_by_operation(evaluation_state<S>& e, frame<S>& at, ir::node_id n) {
  ir::op const operation = at.f[n].attributes.operation;
  auto const& by_primitive = reductions_by_primitive<S, E>::find(operation);
  if (by_primitive.run != nullptr) return by_primitive.run(e, at, n);
  if constexpr (keeps_form<S>)
    stage_reduction<E>(e, at, n, by_primitive.hooks.of(at.f[n].attributes));
  else {
    if constexpr (S::empty && std::is_floating_point_v<E>)
      if (e.is_consistent() && ir::is_elementary(operation)) {
        auto const f = ir::consistent->of<E>().two[static_cast<std::size_t>(operation)];
        return detail::reduce_by<E>(e, at, n, [f](E l, E r) { return f(l, r); });
      }
    using R = wrap_t<S, E>;
    auto const by_number = [&](auto const& l, auto const& r) {
      return combine_table<S, E>::find(operation)(e.stack(), R(wrap(e.stack(), l)), R(wrap(e.stack(), r)));
    };
    bool const is_intercepted = combine_table<S, E>::is_intercepted(operation);
    detail::reduce_by<E>(e, at, n, named<decltype(by_number)>{by_number, operation, is_intercepted});
  }
}

// ---- reductions of several arrays

template <class S>
void reduce_several(evaluation_state<S>& e, frame<S>& at, ir::node_id n, std::uint32_t arrays) {
  using Element = std::vector<element_cell<S>>;
  using Arrays = std::vector<array_cell<S>>;
  auto combine = [&](auto const& x, auto const& y) {
    return detail::cells_as<element_cell<S>>(detail::run_region_on(e, at, at.f.region_at(n, 0), x, y));
  };
  using Combine = decltype(combine);
  if (at.f[n].attributes.is_started())
    detail::reject_list<S, reduce_t, types<Element, Combine, Element, Arrays>>(at, n);
  else
    detail::reject_list<S, reduce_t, types<Element, Combine, Arrays>>(at, n);
  if constexpr (
      is_copied<S, reduce_t, Element, Combine, Arrays>() &&
      is_copied<S, reduce_t, Element, Combine, Element, Arrays>())
    copy_operation(e, at, n);
  else if constexpr (
      is_kept<S, reduce_t, Element, Combine, Arrays>() &&
      is_kept<S, reduce_t, Element, Combine, Element, Arrays>()) {
    bool const is_started = at.f[n].attributes.is_started();
    observed_control const observed{
        reduce_t::name(),
        is_started
            ? std::span<observation const>(observations_of_reduction<S, Element, Combine, Element, Arrays>)
            : std::span<observation const>(observations_of_reduction<S, Element, Combine, Arrays>),
        observed_control::result_kind::list};
    // Hooks receive an empty value for a list of several.
    detail::observe_control(
        e, at, n, observed, std::vector(is_started ? 2 : 1, e.recorder().literal(empty_cell)));
  } else {
    auto const xs = detail::cells_as<array_cell<S>>(e.cells_at(at, n, 0, arrays));
    auto by = [&](auto const& f) {
      if (at.f[n].attributes.is_started())
        return detail::cells_as<cell<S>>(call(
            e.stack(), reduce, f, detail::cells_as<element_cell<S>>(e.cells_at(at, n, arrays, arrays)), xs));
      return detail::cells_as<cell<S>>(call(e.stack(), reduce, f, xs));
    };
    detail::set_results(
        at, n, at.f[n].attributes.is_in_lanes() ? by(summing<Combine>{combine}) : by(combine));
  }
}

// ---- reductions in order

// A reduction from the first element to the last is the loop that computes it: contexts receive its operations as those of a loop. If no
// context intercepts the operation that combines, the reduction is staged as it is.
template <class S>
void reduce_in_order(evaluation_state<S>& e, frame<S>& at, ir::node_id n) {
  ir::type const element = at.f.type_of(at.f.result(n));
  ir::op const operation = at.f[n].attributes.operation;
  if constexpr (keeps_form<S>) {
    bool is_intercepted = false;
    with_type(element, [&]<class T>(std::type_identity<T>) {
      if constexpr (std::is_arithmetic_v<T>) is_intercepted = combine_table<S, T>::is_intercepted(operation);
    });
    if (!is_intercepted) return copy_operation(e, at, n);
  }
  ir::program const fold = fold_by(operation, element);
  frame<S> of_fold(fold[fold.entry]);
  std::vector<slot<S>> const made = run_region(
      e, of_fold, ir::function::body, {e.slot_at(at, at.f.operand(n, 0)), e.slot_at(at, at.f.operand(n, 1))});
  at[at.f.result(n)] = made[0];
}

template <class S>
void evaluate_reduce(evaluation_state<S>& e, frame<S>& at, ir::node_id n) {
  ir::function::node const& x = at.f[n];
  if (x.attributes.is_in_order()) return reduce_in_order(e, at, n);
  std::uint32_t const arrays = x.attributes.is_started() ? x.operand_count / 2 : x.operand_count;
  if (arrays != 1) return reduce_several(e, at, n, arrays);
  ir::type const t = at.f.type_of(at.f.operand(n, 0));
  if constexpr (keeps_form<S>)
    if (t.rank > 2) return copy_operation(e, at, n);
  with_type(t, [&]<class T>(std::type_identity<T>) {
    if constexpr (is_array<T>) {
      using E = typename T::value_type;
      if (x.region_count > 0)
        reduce_by_region<E>(e, at, n);
      else if constexpr (std::is_arithmetic_v<E>)
        reduce_by_operation<E>(e, at, n);
    }
  });
}

} // namespace overdub::detail
