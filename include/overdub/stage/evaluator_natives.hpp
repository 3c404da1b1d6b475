// The evaluator: calls of native functions that a context intercepts, through the dispatcher, like calls of a `leaf` (program_native.hpp).
#pragma once

#include <overdub/stage/evaluator_callees.hpp>
#include <overdub/stage/evaluator_copy.hpp>
#include <overdub/stage/program_native.hpp>

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>

namespace overdub::detail {

// The maximum number of arguments of an intercepted native function.
inline constexpr std::size_t seen_of_natives = 8;

// The callee of an intercepted_call: a native function.
template <class S>
struct evaluator<S>::native_callee {
  evaluator& by;
  frame& at;
  ir::node_id n;
  std::vector<ir::type> types_of_results;
  std::vector<slot> results = {}; // empty: contexts receive all results of a native function
  static constexpr bool has_typed_rules_for_all = false;
  static constexpr bool tells_nothing = true;

  template <class F, class R>
  using callee = program_native<evaluator, F, R>;
  template <class F, class... X>
  using result_of_numbers = typename native_result<F, X...>::type;
  template <class F, class... X>
  static constexpr bool takes = is_native_called_with<F, X...>;

  std::string_view name() const { return by.name_of_native(at.f[n]); }
  std::string_view origin_name() const { return name(); }
  void const* origin_in_cpp() const { return by.origin_of_native(at.f[n]); }
  std::vector<ir::type> parameter_types() const { return by.program_types(at, at.f.operands_of(n)); }
  std::vector<ir::type> const& result_types() const { return types_of_results; }
  // Throws evaluation_error unless contexts receive all arguments, since the native function is called with the values from the contexts.
  void check_untyped(std::vector<any> const& arguments) const {
    bool const is_seen = arguments.size() <= seen_of_natives && types_of_results.size() <= 1 &&
                         std::ranges::all_of(types_of_results, is_cell) &&
                         std::ranges::all_of(arguments, [](any const& x) { return static_cast<bool>(x); });
    if (!is_seen)
      throw evaluation_error(message(
          "overdub: contexts intercept native functions of up to 8 numbers and arrays that return one or "
          "nothing, and \"%.*s\" is none; leave the function that calls it as it is, or stage the function "
          "of C++ in the "
          "context",
          static_cast<int>(name().size()), name().data()));
  }

  template <class F, class R>
  using result_in = std::conditional_t<std::is_same_v<R, no_cell>, none, any>;

  // Whether contexts have hooks for calls of F, and neither rules nor metadata: the call is staged between calls of the hooks
  // (observed.hpp).
  template <class F, class R>
  static consteval bool is_only_observed() {
    if constexpr (keeps_form && !named_at_compile_time<F>)
      return []<std::size_t... N>(std::index_sequence<N...>) {
        return !(has_rule_for_cells<F, R>(list_of_t<any, N>{}) || ...);
      }
    (std::make_index_sequence<seen_of_natives + 1>{});
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
  any observed(std::vector<any> const& arguments, std::string_view name) {
    auto const hooks = [&]<std::size_t... N>(std::index_sequence<N...>) {
      std::span<observation const> found;
      (void)((arguments.size() == N && (found = observations_for<F, R>(list_of_t<any, N>{}), true)) || ...);
      return found;
    }
    (std::make_index_sequence<seen_of_natives + 1>{});
    return by.observe_native(at.f[n], arguments, types_of_results, name, hooks);
  }

  template <class F, class R>
  callee<F, R> made(std::vector<slot> const&) {
    callee<F, R> f;
    f.evaluator = &by;
    f.node = &at.f[n];
    f.results = &types_of_results;
    return f;
  }
};

template <class S>
auto evaluator<S>::name_of_native(node const& x) const -> std::string_view {
  return program_.text(x.attributes.text());
}
template <class S>
auto evaluator<S>::origin_of_native(node const& x) const -> void const* {
  ir::host_binding const* const known = program_.host(x.attributes.text());
  return known == nullptr ? nullptr : known->origin_in_cpp;
}
template <class S>
template <class Values>
auto evaluator<S>::program_types(frame const& at, Values const& values) -> std::vector<ir::type> {
  std::vector<ir::type> types;
  for (ir::value_id const v : values) types.push_back(at.f.type_of(v));
  return types;
}

using all_effects = types<
    unnamed_native<effect::pure>, unnamed_native<effect::may_fail>, unnamed_native<effect::reads_context>,
    unnamed_native<effect::addressed>, unnamed_native<effect::accumulates>, unnamed_native<effect::ordered>>;

// Whether hooks for all native functions, or rules of contexts with answers_any_types, accept values with a dynamic type.
template <class S, class F>
consteval bool intercepts_unnamed() {
  return intercepts_cells<S, program_native<evaluator<S>, F, one_cell>, seen_of_natives>();
}
template <class S>
consteval bool evaluator<S>::may_intercept_natives() {
  if constexpr (S::empty)
    return false;
  else if constexpr (!std::is_same_v<named_natives_t<S>, types<>>)
    return true;
  else
    return []<class... F>(types<F...>) { return (intercepts_unnamed<S, F>() || ...); }(all_effects{});
}

// Dispatches a call of a native function. Returns whether contexts observed or replaced it.
template <class S>
bool evaluator<S>::native([[maybe_unused]] frame& at, [[maybe_unused]] ir::node_id n) {
  if constexpr (!S::empty) {
    node const& x = at.f[n];
    std::string_view const name = name_of_native(x);
    ir::host_binding const* const known = program_.host(x.attributes.text());
    bool const is_of_context = known != nullptr && known->context != ir::host_binding::no_context;
    if (is_of_context || is_name_of_hook(name)) return false;
    if (misses_native<S>(x.attributes.effects, origin_of_native(x), name)) refuse_native(name);
    if constexpr (may_intercept_natives()) {
      std::vector<slot> arguments;
      for (ir::value_id const v : at.f.operands_of(n)) arguments.push_back(slot_of(at, v));
      intercepted_call<native_callee> call({*this, at, n, program_types(at, at.f.results_of(n))}, arguments);
      auto const results = with_effect(x.attributes.effects, [&]<effect E>(effects::constant<E>) {
        return call.template run<unnamed_native<E>>(named_natives_t<S>{});
      });
      if (results) {
        give(at, n, *results);
        return true;
      }
    }
    bool const is_answered_in_cpp = with_effect(
        x.attributes.effects, []<effect E>(effects::constant<E>) { return answers_natives_alone<S, E>(); });
    if (is_answered_in_cpp) refuse_native(name);
  }
  return false;
}
// Rejects a native function that a context would intercept in a C++ function, but does not intercept in a program.
template <class S>
void evaluator<S>::refuse_native(std::string_view name) {
  throw evaluation_error(message(
      "overdub: a context is for native functions, and does not name \"%.*s\", which this program, staged "
      "before, "
      "calls; list it in the context, `using callees = overdub::types<...>`, or stage the function of C++ in "
      "the "
      "context",
      static_cast<int>(name.size()), name.data()));
}

// ---- for the callee

template <class S>
void evaluator<S>::run_native(node const& x, std::vector<void const*> const& given, void* result) const {
  ir::host_binding const& known = host_of(x);
  known.run(known.object, given.data(), &result);
}
template <class S>
auto evaluator<S>::native_in_program(
    node const& x, std::span<ir::value_id const> operands, std::vector<ir::type> const& results)
    -> ir::value_id {
  recorder& r = recorder_();
  ir::node_id const made = r.insert(ir::op::host, operands, results, attributes_in(x));
  return results.empty() ? ir::value_id{ir::nothing} : r.here().result(made);
}

// Hooks receive the number of the name, and for each value the number of its type and the value (hooks.hpp).
template <class S>
auto evaluator<S>::observe_native(
    node const& x, std::vector<any> const& arguments, std::vector<ir::type> const& results,
    std::string_view name, std::span<observation const> contexts) -> any {
  recorder& r = recorder_();
  auto const operands = symbols(arguments);
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
    ir::value_id const result = native_in_program(x, operands, results);
    return result == ir::nothing ? std::vector<ir::value_id>() : std::vector{result};
  };
  auto const objects = objects_of(stack_);
  auto const made = stage_observed(r, {name, contexts, objects, seen, seen_after, stage});
  if (made.empty()) return {};
  return with_type(
      results.front(), [&]<class T>(std::type_identity<T>) { return any(symbol_in<T>(stack_, made[0])); });
}

} // namespace overdub::detail
