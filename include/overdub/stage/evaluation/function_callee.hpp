// Functions of the program as callees of intercepted calls, and whether contexts intercept any.
#pragma once

#include <overdub/stage/evaluation/intercepted_call.hpp>

#include <algorithm>
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
      return std::ranges::any_of(p.functions, [&](ir::function const& f) {
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
