// Calls of native functions that a context intercepts, through the dispatcher, like calls of a `leaf` (program_native.hpp).
#pragma once

#include <overdub/core/quantifiers.hpp>
#include <overdub/stage/evaluation/host.hpp>
#include <overdub/stage/evaluation/intercepted_call.hpp>

#include <cstddef>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace overdub::detail {

// Stages a native function between the calls of the hooks that observe it. Hooks receive the number of the name, and for each value the
// number of its type and the value (hooks.hpp).
template <class S>
cell<S> observe_native(
    evaluation_state<S>& e, ir::function::node const& x, std::vector<cell<S>> const& arguments,
    std::vector<ir::type> const& results, std::string_view name, std::span<observation const> contexts) {
  recorder& r = e.recorder();
  auto const operands = detail::symbols_of(arguments);
  std::vector<ir::value_id> seen{r.literal(number_of_name(name))};
  auto const append_typed = [&](std::vector<ir::value_id>& all, ir::value_id v) {
    all.push_back(r.literal(number_of_cell(r.here().type_of(v))));
    all.push_back(v);
  };
  for (ir::value_id const v : operands) append_typed(seen, v);
  auto const seen_after = [&](std::span<ir::value_id const> made) {
    std::vector<ir::value_id> all{seen.front()};
    for (ir::value_id const result : made) append_typed(all, result);
    all.insert(all.end(), seen.begin() + 1, seen.end());
    return all;
  };
  auto const stage = [&] {
    ir::value_id const result = detail::stage_native(e, x, operands, results);
    return result == ir::nothing ? std::vector<ir::value_id>() : std::vector{result};
  };
  auto const objects = objects_of(e.stack());
  auto const made = stage_observed(r, {name, contexts, objects, seen, seen_after, stage});
  if (made.empty()) return {};
  return with_type(results.front(), [&]<class T>(std::type_identity<T>) {
    return cell<S>(symbol_in<T>(e.stack(), made[0]));
  });
}

template <class S, class Values>
std::vector<ir::type> types_at(frame<S> const& at, Values const& values) {
  std::vector<ir::type> types;
  for (ir::value_id const v : values) types.push_back(at.f.type_of(v));
  return types;
}

// The callee of an intercepted_call: a native function.
template <class S>
struct native_callee {
  evaluation_state<S>& by;
  frame<S>& at;
  ir::node_id n;
  std::vector<ir::type> types_of_results;
  std::vector<slot<S>> results = {}; // empty: contexts receive all results of a native function
  static constexpr bool has_typed_rules_for_all = false;
  static constexpr bool gives_none = true;
  static constexpr bool is_staged_between_hooks = false;

  template <class F, class R>
  using callee = program_native<S, F, R>;
  template <class F, class... X>
  using result_of_numbers = typename native_result<F, X...>::type;
  template <class F, class... X>
  static constexpr bool takes = is_native_called_with<F, X...>;

  std::string_view name() const { return detail::name_of_native(by, at.f[n]); }
  std::string_view origin_name() const { return name(); }
  void const* origin_in_cpp() const { return detail::origin_of_native(by, at.f[n]); }
  std::vector<ir::type> parameter_types() const { return detail::types_at(at, at.f.operands_of(n)); }
  std::vector<ir::type> const& result_types() const { return types_of_results; }
  // Throws evaluation_error unless contexts receive all arguments, since the native function is called with the values from the contexts.
  void check_untyped(std::vector<cell<S>> const& arguments) const {
    bool const is_seen = arguments.size() <= maximum_seen && types_of_results.size() <= 1 &&
                         holds_for_all(types_of_results, is_cell) &&
                         holds_for_all(arguments, [](cell<S> const& x) { return static_cast<bool>(x); });
    if (!is_seen)
      throw evaluation_error(message(
          "overdub: contexts intercept native functions of up to 8 numbers and arrays that return one or "
          "nothing, and \"%.*s\" is none; leave the function that calls it as it is, or stage the function "
          "of C++ in the "
          "context",
          static_cast<int>(name().size()), name().data()));
  }

  template <class F, class R>
  using result_in = std::conditional_t<std::is_same_v<R, no_cell>, none, cell<S>>;

  // Whether contexts have hooks for calls of F, and neither rules nor metadata: the call is staged between calls of the hooks
  // (observed.hpp).
  template <class F, class R>
  static consteval bool is_only_observed() {
    if constexpr (keeps_form<S> && !named_at_compile_time<F>)
      return []<std::size_t... N>(std::index_sequence<N...>) {
        return !(has_rule_for_cells<F, R>(list_of_t<cell<S>, N>{}) || ...);
      }
    (std::make_index_sequence<maximum_seen + 1>{});
    else return false;
  }
  template <class F, class R, class... X>
  static consteval bool has_rule_for_cells(types<X...>) {
    return any_rule<S, callee<F, R>, result_in<F, R>, X...>();
  }
  template <class F, class R, class... X>
  static constexpr std::span<observation const> observations_for(types<X...>) {
    return observations<S, callee<F, R>, result_in<F, R>, X...>;
  }
  template <class F, class R>
  cell<S> observed(std::vector<cell<S>> const& arguments, std::string_view name) {
    auto const hooks = [&]<std::size_t... N>(std::index_sequence<N...>) {
      std::span<observation const> found;
      (void)((arguments.size() == N && (found = observations_for<F, R>(list_of_t<cell<S>, N>{}), true)) || ...);
      return found;
    }
    (std::make_index_sequence<maximum_seen + 1>{});
    return detail::observe_native(by, at.f[n], arguments, types_of_results, name, hooks);
  }

  template <class F, class R>
  callee<F, R> made(std::vector<slot<S>> const&) {
    callee<F, R> f;
    f.evaluation = &by;
    f.node = &at.f[n];
    f.results = &types_of_results;
    return f;
  }
};

using all_effects = types<
    unnamed_native<effect::pure>, unnamed_native<effect::may_fail>, unnamed_native<effect::reads_context>,
    unnamed_native<effect::addressed>, unnamed_native<effect::accumulates>, unnamed_native<effect::ordered>>;

// Whether hooks for all native functions, or rules of contexts with answers_any_types, accept values with a dynamic type.
template <class S, class F>
consteval bool intercepts_unnamed() {
  return intercepts_cells<S, program_native<S, F, one_cell>, maximum_seen>();
}
template <class S>
consteval bool may_intercept_natives() {
  if constexpr (S::empty)
    return false;
  else if constexpr (!std::is_same_v<named_natives_t<S>, types<>>)
    return true;
  else
    return []<class... F>(types<F...>) { return (intercepts_unnamed<S, F>() || ...); }(all_effects{});
}

// Rejects a native function that a context would intercept in a C++ function, but does not intercept in a program.
[[noreturn]] inline void refuse_native(std::string_view name) {
  throw evaluation_error(message(
      "overdub: a context is for native functions, and does not name \"%.*s\", which this program, staged "
      "before, "
      "calls; list it in the context, `using callees = overdub::types<...>`, or stage the function of C++ in "
      "the "
      "context",
      static_cast<int>(name.size()), name.data()));
}

// Dispatches a call of a native function. Returns whether contexts observed or replaced it.
template <class S>
bool intercept_native(
    [[maybe_unused]] evaluation_state<S>& e, [[maybe_unused]] frame<S>& at, [[maybe_unused]] ir::node_id n) {
  if constexpr (!S::empty) {
    ir::function::node const& x = at.f[n];
    std::string_view const name = detail::name_of_native(e, x);
    ir::host_binding const* const known = e.program().host(x.attributes.text());
    bool const is_of_context = known != nullptr && known->context != ir::host_binding::no_context;
    if (is_of_context || is_name_of_hook(name)) return false;
    if (misses_native<S>(x.attributes.effects, detail::origin_of_native(e, x), name)) refuse_native(name);
    if constexpr (may_intercept_natives<S>()) {
      std::vector<slot<S>> arguments;
      for (ir::value_id const v : at.f.operands_of(n)) arguments.push_back(e.slot_at(at, v));
      intercepted_call<S, native_callee<S>> call(
          {e, at, n, detail::types_at(at, at.f.results_of(n))}, arguments);
      auto const results = with_effect(x.attributes.effects, [&]<effect E>(effects::constant<E>) {
        return call.template run<unnamed_native<E>>(named_natives_t<S>{});
      });
      if (results) {
        detail::set_results(at, n, *results);
        return true;
      }
    }
    bool const is_answered_in_cpp = with_effect(
        x.attributes.effects, []<effect E>(effects::constant<E>) { return answers_natives_alone<S, E>(); });
    if (is_answered_in_cpp) refuse_native(name);
  }
  return false;
}

} // namespace overdub::detail
