// The result type of a call, and its dispatch. A function's result type is that of its body, or of a rule that names
// the function, and is computed before any rule's type is deduced, so that recursive functions compile.
#pragma once

#include <overdub/call/rule.hpp>

#include <concepts>
#include <type_traits>
#include <utility>

namespace overdub::detail {

template <class T>
struct type_is {
  using type = T;
};

// ---- the result of `enter` for the body of a function

// An `enter` that names the function, or its origin, takes precedence over one for all functions; one with the types of the arguments takes
// precedence over one without. The former is not called for a function of a program whose arguments have no C++ types: the caller of such a
// function rejects the context.
template <class F, bool = std::is_empty_v<origin_t<F>>&& std::is_default_constructible_v<origin_t<F>>>
struct named_callee {
  using type = F;
  static constexpr F const& of(F const& f) { return f; }
};
template <class F>
struct named_callee<F, true> {
  using type = origin_t<F>;
  static constexpr type of(F const&) { return {}; }
};
template <class F>
using named_callee_t = typename named_callee<F>::type;

template <class C, class F, class... X>
concept enters_named_by_types =
    declares_enter<C> && !is_untyped<F> && requires(C & context, named_callee_t<F> const& f) {
  context.enter({f}, argument_types<concrete_t<X>...>{});
};
template <class C, class F>
concept enters_named = declares_enter<C> && requires(C& context, named_callee_t<F> const& f) {
  context.enter({f});
};
template <class C, class F, class... X>
concept enters_by_types = enters_named_by_types<C, F, X...> ||
    (declares_enter<C> && !is_untyped<F> &&
     requires(C & context, F const& f) { context.enter(f, argument_types<concrete_t<X>...>{}); });
template <class C, class F, class... X>
concept enters = enters_by_types<C, F, X...> || enters_named<C, F> ||
    (declares_enter<C>&& requires(C& context, F const& f) { context.enter(f); });
template <class... X, class C, class F>
constexpr decltype(auto) ask_enter(C& context, F const& f) {
  if constexpr (enters_named_by_types<C, F, X...>)
    return context.enter({named_callee<F>::of(f)}, argument_types<concrete_t<X>...>{});
  else if constexpr (enters_named<C, F>)
    return context.enter({named_callee<F>::of(f)});
  else if constexpr (enters_by_types<C, F, X...>)
    return context.enter(f, argument_types<concrete_t<X>...>{});
  else
    return context.enter(f);
}

template <class C, class F, class... X>
consteval auto find_entered() {
  if constexpr (enters<C, F, X...>) {
    using E = std::remove_cvref_t<decltype(ask_enter<X...>(std::declval<C&>(), std::declval<F const&>()))>;
    constexpr bool known = std::is_same_v<E, leave_t> || is_context<E>;
    static_assert(known, "overdub: enter(f) returns a context or overdub::leave");
    return type_is<std::conditional_t<known && can_be_made<E>(), E, leave_t>>{};
  } else
    return type_is<C>{};
}
/// The context of the body of F if the context C intercepts a call with X....
template <class C, class F, class... X>
using entered_t = typename decltype(find_entered<C, F, X...>())::type;
/// Whether the body of F may run in another context than C: one of another class, or another object to which `enter` returns a reference.
template <class C, class F, class... X>
consteval bool may_change_context() {
  if constexpr (!enters<C, F, X...>)
    return false;
  else if constexpr (!std::is_same_v<entered_t<C, F, X...>, C>)
    return true;
  else
    return !std::is_empty_v<C> && std::is_lvalue_reference_v<decltype(ask_enter<X...>(
                                      std::declval<C&>(), std::declval<F const&>()))>;
}
template <class C, class F, class... X>
inline constexpr bool changes_context = may_change_context<C, F, X...>();
template <class C, class F, class... X>
inline constexpr bool leaves = std::is_same_v<entered_t<C, F, X...>, leave_t>;

// The stack of the body of f for a call in S, with the context that `enter` returned as its head.
template <class S, class F, class... X>
using body_stack_t =
    push_t<level<entered_t<typename S::context, F, X...>, typename S::head::run>, typename S::tail>;

// Converts the arguments of a body to values of the body's stack.
template <class S, class To, class X>
OVERDUB_INLINE constexpr auto rehome(S const& from, To const& to, X&& x) {
  if constexpr (std::is_same_v<S, To>)
    return wrap(to, std::forward<X>(x));
  else {
    static_assert(std::is_same_v<typename S::tail, typename To::tail>);
    return wrap(to, strip(from, wrap(from, std::forward<X>(x))));
  }
}
template <class S, class To, class X>
using rehome_t = decltype(rehome(std::declval<S const&>(), std::declval<To const&>(), std::declval<X>()));

// ---- the dispatch of a function's call in the outermost context of S

// How the context handles the call: its rule does; `enter` leaves the context; it passes the call to inner contexts; the body runs.
enum class answer { rule, leave, pass, body };

// Whether an inner context has a rule that names the function. If so, a context without metadata passes the call to the inner contexts.
template <class S, class F, class... A>
consteval bool named_inside();
template <class S, class F, class... A>
consteval bool named_below() {
  if constexpr (carries_metadata<typename S::context>)
    return false;
  else
    return named_inside<S, F, A...>();
}
template <class S, class F, class... A>
consteval bool named_inside() {
  if constexpr (S::tail::empty)
    return false;
  else {
    using T = typename S::tail;
    return names_rule<T, F, open_t<T, inner_t<S, A>>...> || named_below<T, F, inner_t<S, A>...>();
  }
}

template <class S, class F, class... A>
consteval answer find_answer() {
  using C = typename S::context;
  if constexpr (rule_for<S, F, open_t<S, A>...> != rule::none)
    return answer::rule;
  else if constexpr (leaves<C, F, A...>)
    return answer::leave;
  else if constexpr (named_below<S, F, A...>())
    return answer::pass;
  else
    return answer::body;
}

// ---- the type of f(a...) called in S

template <class S, class F, class... A>
struct result;
template <class S, class F, class... A>
using result_t = typename result<S, F, std::remove_cvref_t<A>...>::type;

template <class S, class F, class... A>
consteval auto find_result() {
  if constexpr (S::empty)
    return type_is<typename F::template body_type<S, A...>>{};
  else if constexpr (stages<S> || F::template declares_type<S, wrap_t<S, A>...>())
    return type_is<wrap_t<S, typename F::template body_type<S, wrap_t<S, A>...>>>{};
  else {
    using C = typename S::context;
    if constexpr (constexpr rule named = named_rule<S, F, open_t<S, A>...>; named != rule::none)
      return type_is<wrap_t<
          S, decltype(call_rule<named>(
                 std::declval<S const&>(), std::declval<F const&>(), std::declval<open_t<S, A>>()...))>>{};
    else if constexpr (leaves<C, F, A...> || named_below<S, F, A...>())
      return type_is<wrap_t<S, result_t<typename S::tail, F, inner_t<S, A>...>>>{};
    else {
      using B = body_stack_t<S, F, A...>;
      return type_is<rehome_t<B, S, typename F::template body_type<B, rehome_t<S, B, A>...>>>{};
    }
  }
}
template <class S, class F, class... A>
struct result : decltype(find_result<S, F, A...>()) {};

template <class S, class F, class R, class Rule>
consteval bool rule_result() {
  constexpr bool same = std::is_same_v<R, Rule>;
  static_assert(
      same || is_refused<Rule> || of_kind<F, kind::of_program>,
      "overdub: a rule's result must have the type of the function's own result; convert it with "
      "overdub::convert<T>, or return the same structure");
  return same;
}

} // namespace overdub::detail
