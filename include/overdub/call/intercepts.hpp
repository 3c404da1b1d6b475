// Tests whether a context intercepts a call: by a rule, by a hook, or because it has metadata for the operands. A shorthand operation that
// no context intercepts is not decomposed: it is computed as a whole, and staged as one operation.
#pragma once

#include <overdub/call/hook.hpp>
#include <overdub/call/types.hpp>

#include <exception>
#include <type_traits>
#include <utility>

namespace overdub::detail {

// Whether the outermost context of S has a rule for a call of F with these arguments. The rule of a control primitive receives lowered
// functions.
template <class S, class F>
struct rule_one_level_down {
  template <class... L>
  constexpr auto operator()(L&&...) const {
    using Owned = types<decltype(owned_tree(std::declval<L>()))...>;
    return []<class... X>(types<X...>) {
      return std::bool_constant<rule_for<S, F, X...> != rule::none>{};
    }(Owned{});
  }
};
template <class S, class F, class... X>
consteval bool has_rule() {
  if constexpr (!declares_rules<typename S::context>)
    return false;
  else if constexpr (control<F>)
    return decltype(F::lower(
        std::declval<S const&>(), rule_one_level_down<S, F>{}, std::declval<X const&>()...))::value;
  else
    return rule_for<S, F, open_t<S, X>...> != rule::none;
}

// Whether the outermost context of S has a hook for such a call. Hooks that it does not declare are not looked for, since these
// tests are compiled for each operation and type.
template <class S, class F, class R, class... X>
consteval bool has_hook() {
  using C = typename S::context;
  bool found = false;
  if constexpr (declares_before<C>) found = found || find_hook<before_hook, S, F, X...>() != hook_kind::never;
  if constexpr (declares_after<C>)
    found = found || find_hook<after_hook, S, F, R, X...>() != hook_kind::never;
  if constexpr (declares_failed<C>)
    found = found || find_hook<failed_hook, S, F, std::exception_ptr, X...>() != hook_kind::never;
  return found;
}

// Whether the outermost context of S intercepts a call of F with these arguments, which returns an R.
template <class S, class F, class R, class... X>
consteval bool intercepts() {
  using C = typename S::context;
  if constexpr (symbolic<C> || carries_metadata<C>)
    return true;
  else if constexpr (!declares_rules<C>)
    return has_hook<S, F, R, X...>();
  else if constexpr (has_rule<S, F, X...>())
    return true;
  else if constexpr (!declares_before<C> && !declares_after<C> && !declares_failed<C>)
    return false;
  else
    return has_hook<S, F, R, X...>();
}

// The types of the arguments of a call of F after it is lowered from the outermost context of S to the next one. The functions that a
// control primitive takes are lowered, too.
struct types_of_arguments {
  template <class... L>
  constexpr auto operator()(L&&...) const {
    return types<decltype(owned_tree(std::declval<L>()))...>{};
  }
};
template <class S, class F, class... X>
struct arguments_inside {
  using type = types<inner_t<S, X>...>;
};
template <class S, control F, class... X>
struct arguments_inside<S, F, X...> {
  using type =
      decltype(F::lower(std::declval<S const&>(), types_of_arguments{}, std::declval<X const&>()...));
};
template <class S, class F, class... X>
using arguments_inside_t = typename arguments_inside<S, F, X...>::type;

// Whether S has a context that encloses `staging`.
template <class S>
consteval bool has_contexts() {
  if constexpr (S::empty)
    return false;
  else
    return !symbolic<typename S::context>;
}
// Whether any context of S that encloses `staging` intercepts it.
template <class S, class F, class R, class... X>
consteval bool any_intercepts();
template <class S, class F, class R, class... X>
consteval bool any_intercepts(types<X...>) {
  return any_intercepts<S, F, R, X...>();
}
template <class S, class F, class R, class... X>
consteval bool any_intercepts() {
  if constexpr (!has_contexts<S>())
    return false;
  else if constexpr (intercepts<S, F, R, X...>())
    return true;
  else if constexpr (!has_contexts<typename S::tail>())
    return false;
  else
    return any_intercepts<typename S::tail, F, inner_t<S, R>>(arguments_inside_t<S, F, X...>{});
}

// A shorthand for calls of other operations, as sum(xs) for reduce(add, 0, xs): contexts intercept those, in this order.
//   P::decompose(a...)             makes the calls
//   P::intercepted<S, A...>()      whether the outermost context of S intercepts one of them
//   P::compute(a...)               computes the result, if no context intercepts
template <class P>
concept shorthand = requires {
  requires P::is_shorthand;
};

// Whether a context lists a callee: using callees = overdub::types<...>.
template <class List, class F>
inline constexpr bool is_in_callees = false;
template <class... Listed, class F>
inline constexpr bool
    is_in_callees<types<Listed...>, F> = (std::is_same_v<std::remove_cv_t<Listed>, F> || ...);
template <class C, class F>
inline constexpr bool lists_callee = false;
template <class C, class F>
requires requires { typename C::callees; }
inline constexpr bool lists_callee<C, F> = is_in_callees<typename C::callees, F>;

// Rejects rules, hooks and lists of callees that name a shorthand.
template <class S, class P, class... A>
consteval bool names_shorthand() {
  using R = decltype(P::compute(std::declval<concrete_t<A>>()...));
  constexpr auto is_named = [](hook_kind how) {
    return how == hook_kind::named || how == hook_kind::raw_named;
  };
  constexpr bool named = lists_callee<typename S::context, P> || names_rule<S, P, open_t<S, A>...> ||
                         is_named(find_hook<before_hook, S, P, A...>()) ||
                         is_named(find_hook<after_hook, S, P, R, A...>()) ||
                         is_named(find_hook<failed_hook, S, P, std::exception_ptr, A...>());
  static_assert(
      !named,
      "overdub: sum and dot are no calls of their own: sum(xs) is reduce(add, 0, xs), and dot(xs, ys) is "
      "sum(map(mul, xs, ys)); name reduce, map, add or mul in the context's rule, hook or list of callees");
  return named;
}

} // namespace overdub::detail
