// How control primitives receive the values of a control operation, and what hooks receive that observe one.
#pragma once

#include <overdub/ir/regions.hpp>
#include <overdub/stage/evaluation/copy.hpp>
#include <overdub/stage/program_function.hpp>

#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace overdub::detail {

// A control primitive receives one value as itself, and several as a list: rules and hooks that are declared for a type receive a value of
// this type, as in C++.
template <class S, class T>
struct one_value_form {
  static constexpr bool is_one = true;
  using type = wrap_t<S, T>;
  static type of(std::vector<cell<S>> const& all) { return *all[0].template get<type>(); }
  static std::vector<cell<S>> cells(type const& x) { return {cell<S>(x)}; }
};
template <class S>
struct list_form {
  static constexpr bool is_one = false;
  using type = std::vector<cell<S>>;
  static type of(type all) { return all; }
  static type const& cells(type const& all) { return all; }
};
// Calls f with the form in which a control primitive receives these values.
template <class S, class F>
void in_form(frame<S> const& at, ir::id_range<ir::value_id> values, F const& f) {
  if constexpr (!S::empty)
    if (values.size() == 1 && is_cell(at.f.type_of(values[0])))
      return with_type(
          at.f.type_of(values[0]), [&]<class T>(std::type_identity<T>) { f(one_value_form<S, T>{}); });
  f(list_form<S>{});
}
// Whether F is called on a list of one value: no context distinguishes this call, of the types Several, from one of the types One.
template <class S, class F, class Form, class One, class Several>
consteval bool is_called_on_list() {
  if constexpr (Form::is_one && !keeps_form<S>)
    return []<class R, class... X, class Rs, class... Xs>(types<R, X...>, types<Rs, Xs...>) {
      return !any_distinguishes<S, F, R, Rs>(types<X...>{}, types<Xs...>{});
    }(One{}, Several{});
  else
    return false;
}
// Throws evaluation_error for several values if a context names F for values that are trees in C++.
template <class S, class F, class Call>
void reject_list(frame<S> const& at, ir::node_id n) {
  if constexpr (any_rejects_list<S, F>(Call{}))
    if (at.f[n].result_count > 1)
      throw evaluation_error(message(
          "overdub: a context has a hook for `%.*s` that takes a tree, such as a tuple, and the program has "
          "one with several values, "
          "which hooks do not receive there; stage the function of C++ in the context, or declare the "
          "parameter `auto const&`",
          static_cast<int>(F::name().size()), F::name().data()));
}

// The operands of hooks that observe a loop: its number of iterations, if any, and the loop-carried value, or an empty value for several.
template <class S>
std::vector<ir::value_id> hook_operands(evaluation_state<S>& e, frame<S>& at, ir::node_id n, bool is_one) {
  std::vector<ir::value_id> all = symbols_at(e, at, n);
  if (!is_one) {
    all.resize(ir::region_flow(at.f, n).leading_operands());
    all.push_back(e.recorder().literal(empty_cell));
  }
  return all;
}
// A call of a control primitive that hooks observe: as data, so that one function stages calls of all types.
struct observed_control {
  enum class result_kind {
    none,
    value,
    list
  }; // what hooks receive as the result: nothing, the value, or an empty value
  std::string_view name;
  std::span<observation const> contexts;
  result_kind result;
};
template <class S, class F, class R, class... X>
OVERDUB_HIDDEN inline constexpr observed_control observed_control_of{
    F::name(), observations<S, F, R, X...>,
    is_list<R>    ? observed_control::result_kind::list
    : is_value<R> ? observed_control::result_kind::value
                  : observed_control::result_kind::none};
// Copies a control operation between the calls of the hooks that observe it.
template <class S>
void observe_control(
    [[maybe_unused]] evaluation_state<S>& e, [[maybe_unused]] frame<S>& at, [[maybe_unused]] ir::node_id n,
    [[maybe_unused]] observed_control const& observed,
    [[maybe_unused]] std::vector<ir::value_id> const& operands) {
  if constexpr (keeps_form<S>) { // otherwise never called
    auto const operands_after = [&](std::span<ir::value_id const> results) {
      std::vector<ir::value_id> all;
      if (observed.result == observed_control::result_kind::list)
        all.push_back(e.recorder().literal(empty_cell));
      else if (observed.result == observed_control::result_kind::value)
        all.push_back(results[0]);
      all.insert(all.end(), operands.begin(), operands.end());
      return all;
    };
    auto const stage = [&] {
      copy_operation(e, at, n);
      std::vector<ir::value_id> all;
      for (ir::value_id const v : at.f.results_of(n)) all.push_back(detail::symbol_of(e, at[v]));
      return all;
    };
    auto const objects = objects_of(e.stack());
    auto const results = stage_observed(
        e.recorder(), {observed.name, observed.contexts, objects, operands, operands_after, stage});
    for (std::uint32_t i = 0; i < results.size(); ++i) set_symbol(at, at.f.result(n, i), results[i]);
  }
}

} // namespace overdub::detail
