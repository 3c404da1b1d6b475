// Functions of the program as callees of intercepted calls, and whether contexts intercept any.
#pragma once

#include <overdub/core/quantifiers.hpp>
#include <overdub/stage/evaluation/intercepted_call.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace overdub::detail {

// The name of the function from which contexts derived a function; its own name, if they did not.
inline std::string_view origin_name_of(ir::program const& p, ir::function const& f) {
  return f.origin_name.empty() ? p.text(f.name) : f.origin_name;
}

// Whether S has one context, which only observes calls, and no metadata: a call is staged between calls of its hooks. Inside of several
// contexts, the callee is another one for each.
template <class S>
consteval bool only_observes() {
  if constexpr (!keeps_form<S> || !has_contexts<S>())
    return false;
  else
    return !has_contexts<typename S::tail>() && !declares_rules<typename S::context> &&
           !declares_enter<typename S::context>;
}
// What hooks receive of a call of a function: the number of its name; arguments, and the result, with a dynamic type.
struct hooked_values {
  bool has_name, are_cells, is_result_cell;
};

// The callee of an intercepted_call: a function of the program.
template <class S>
struct function_callee {
  evaluation_state<S>& by;
  ir::function_id id;
  std::vector<slot<S>> results = {};
  static constexpr bool has_typed_rules_for_all = true;
  static constexpr bool gives_none = false; // the result of a function without results is an empty cell

  template <class F, class R>
  using callee = program_function<S, F, R>;
  template <class F, class... X>
  using result_of_numbers = double;
  template <class F, class... X>
  static constexpr bool takes = is_called_with<F, X...>;

  ir::function const& function() const { return by.program()[id]; }
  std::string_view name() const { return by.program().text(function().name); }
  std::string_view origin_name() const { return detail::origin_name_of(by.program(), function()); }
  void const* origin_in_cpp() const { return function().origin_in_cpp; }
  std::vector<ir::type> parameter_types() const {
    std::vector<ir::type> types;
    for (ir::value_id const v : function().parameters()) types.push_back(function().type_of(v));
    return types;
  }
  std::vector<ir::type> const& result_types() const { return function().results; }
  static void check_untyped(std::vector<cell<S>> const&) {}
  template <class F, class R>
  static consteval bool is_only_observed() {
    return false;
  }
  static constexpr bool is_staged_between_hooks = only_observes<S>();

  // Stages the call between the calls of these hooks.
  std::vector<slot<S>> between_hooks(
      std::vector<slot<S>> const& arguments, std::string_view name, std::span<observation const> hooks,
      hooked_values what) {
    recorder& r = by.recorder();
    std::vector<ir::value_id> seen;
    auto const append_cell = [&](std::vector<ir::value_id>& all, slot<S> const& s) {
      if (!by.cell_or_none(s)) return all.push_back(r.literal(empty_cell));
      ir::value_id const v = detail::symbol_of(by, s);
      all.push_back(r.literal(number_of_cell(r.here().type_of(v))));
      all.push_back(v);
    };
    for (std::size_t i = 0; i < arguments.size() && (!what.are_cells || i < maximum_seen); ++i)
      if (what.are_cells)
        append_cell(seen, arguments[i]);
      else
        seen.push_back(detail::symbol_of(by, arguments[i]));
    std::vector<ir::value_id> names;
    if (what.has_name) names.push_back(r.literal(number_of_name(name)));
    auto const slots_of_results = [&](std::span<ir::value_id const> made) {
      std::vector<slot<S>> slots;
      for (std::size_t i = 0; i < made.size(); ++i)
        slots.push_back({.symbol = made[i], .type = result_types()[i]});
      return slots;
    };
    auto const seen_after = [&](std::span<ir::value_id const> made) {
      std::vector<ir::value_id> all = names;
      if (!what.is_result_cell)
        all.insert(all.end(), made.begin(), made.end());
      else if (made.size() == 1)
        append_cell(all, slots_of_results(made)[0]);
      else
        all.push_back(r.literal(empty_cell));
      all.insert(all.end(), seen.begin(), seen.end());
      return all;
    };
    std::vector<ir::value_id> before = names;
    before.insert(before.end(), seen.begin(), seen.end());
    auto const stage = [&] { return detail::symbols_of_results(by, id, call_directly(by, id, arguments)); };
    auto const objects = objects_of(by.stack());
    return slots_of_results(stage_observed(r, {name, hooks, objects, before, seen_after, stage}));
  }

  template <class F, class R>
  callee<F, R> made(std::vector<slot<S>> const& arguments) {
    callee<F, R> f;
    f.evaluation = &by;
    f.id = id;
    f.arguments = &arguments;
    f.results = &results;
    f.returns_cell = result_types().size() == 1 && is_cell(result_types()[0]);
    return f;
  }
};

// Whether a context may intercept calls of functions; and whether one intercepts calls of functions of this program.
template <class S>
consteval bool may_intercept_functions() {
  if constexpr (S::empty)
    return false;
  else
    return intercepted_call<S, function_callee<S>>::template is_any_intercepted<unnamed_function>() ||
           !std::is_same_v<named_functions_t<S>, types<>>;
}
template <class S>
bool intercepts_functions_of([[maybe_unused]] ir::program const& p) {
  if constexpr (!may_intercept_functions<S>())
    return false;
  else if constexpr (intercepted_call<S, function_callee<S>>::template is_any_intercepted<unnamed_function>())
    return true;
  else
    return [&]<class... F>(types<F...>) {
      return holds_for_any(p.functions, [&](ir::function const& f) {
        return f.name != ir::nothing &&
               (is_called_as<F>(f.origin_in_cpp, detail::origin_name_of(p, f)) || ...);
      });
    }(named_functions_t<S>{});
}

template <class S>
evaluation_state<S> evaluation_in(ir::program const& p, S const& contexts, std::string above) {
  return {p, contexts, std::move(above), detail::intercepts_functions_of<S>(p)};
}
template <class T, class S>
evaluation_state<T> evaluation_in(evaluation_state<S> const& e, T const& contexts) {
  constexpr bool are_same = may_intercept_functions<S>() == may_intercept_functions<T>() &&
                            std::is_same_v<named_functions_t<S>, named_functions_t<T>>;
  bool const intercepts = [&] {
    if constexpr (are_same)
      return e.intercepts_functions();
    else
      return detail::intercepts_functions_of<T>(e.program());
  }();
  return {e.program(), contexts, e.above(), intercepts, e.limit()};
}

} // namespace overdub::detail
