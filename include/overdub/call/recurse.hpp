// For rules: continues a call in the context (recurse), or outside of it (fallback).
#pragma once

#include <overdub/call/assumed.hpp>
#include <overdub/call/derived.hpp>
#include <overdub/call/rule_call.hpp>
#include <overdub/call/scope.hpp>

#include <type_traits>
#include <utility>

namespace overdub {
namespace detail {

template <class S, class F, class... A>
consteval auto recursion_result() {
  if constexpr (!callee<F>)
    return type_is<none>{}; // compilers may instantiate a rule's return type before its constraints
  else if constexpr (function<F>) {
    using T = typename F::template body_type<S, wrap_t<S, A>...>;
    return type_is<strip_t<S, wrap_t<S, T>>>{};
  } else
    return type_is<strip_t<
        S, decltype(answer_primitive::structure(
               std::declval<S const&>(), std::declval<F const&>(), std::declval<wrap_t<S, A>>()...))>>{};
}

// Whether the body of F in the contexts of S is staged as a function of its own, so that staging terminates if a function whose rule
// recurses into it calls itself.
template <class S, class F>
consteval bool is_staged_apart() {
  if constexpr (!is_symbolic<S> || !function<F>)
    return false;
  else
    return !S::tail::empty && !of_kind<F, kind::of_program> && std::is_empty_v<origin_t<F>>;
}

// Calls this function. No context in between observes the call.
template <class S, class F, class... X>
OVERDUB_INLINE constexpr auto call_staged(S const& stack, F const& f, X const&... x) {
  derived<S, F> const body{f, stack};
  if constexpr (S::tail::tail::empty)
    return wrap(stack, call(stack.rest(), body, lift_down(stack, x)...));
  else
    return wrap(stack, call_staged(stack.rest(), body, lift_down(stack, x)...));
}
template <class S, class F, class... X>
using staged_call_t = strip_t<
    S,
    decltype(call_staged(std::declval<S const&>(), std::declval<F const&>(), std::declval<X const&>()...))>;

// The body of F in the contexts of S, or the primitive one level down.
template <class S, class F, class... A>
struct recursion {
  using type = typename decltype(recursion_result<S, F, A...>())::type;
  template <class... X>
  OVERDUB_INLINE static constexpr type run(S const& stack, F const& f, X&&... x) {
    if constexpr (is_staged_apart<S, F>())
      if constexpr (std::is_same_v<type, staged_call_t<S, F, wrap_t<S, A>...>>)
        return strip(stack, call_staged(stack, f, wrap(stack, std::forward<X>(x))...));
    return run_here(stack, f, std::forward<X>(x)...);
  }

private:
  template <class... X>
  OVERDUB_INLINE static constexpr type run_here(S const& stack, F const& f, X&&... x) {
    if constexpr (function<F>)
      return strip(stack, wrap(stack, f.run(stack, wrap(stack, std::forward<X>(x))...)));
    else
      return strip(stack, answer_primitive::structure(stack, f, wrap(stack, std::forward<X>(x))...));
  }
};

// The stack of recurse(context, f, x...): that of the call, if the rule takes the call, or else the one that the context's class and the
// arguments imply.
template <class C, class F, class... A>
struct recursion_stack {
  using type = assumed_stack_t<true, C, F, A...>;
};
template <rule_call Call, class F, class... A>
struct recursion_stack<Call, F, A...> {
  using type = typename Call::stack_type;
};

// Strips the metadata of a rule's argument.
struct take_inner {
  template <class X>
  OVERDUB_INLINE constexpr auto operator()(X&& x) const {
    using T = std::remove_cvref_t<X>;
    if constexpr (is_tagged<T>)
      return std::remove_cvref_t<decltype(x.inner)>(std::forward<X>(x).inner);
    else if constexpr (tree<T>)
      return tree_traits<T>::map(*this, std::forward<X>(x));
    else
      return T(std::forward<X>(x));
  }
};

// Calls G from a rule, outside of its context.
template <class S, class G, class... X>
struct call_below {
  OVERDUB_INLINE static constexpr auto run(S const& stack, G const& g, X&&... x) {
    if constexpr (callee<G>)
      return call(stack_with(stack.rest(), x...), g, static_cast<X&&>(x)...);
    else
      return g(wrap(stack.rest(), static_cast<X&&>(x))...);
  }
  OVERDUB_INLINE static constexpr auto fall_back(S const& stack, G const& g, X&&... x) {
    return call(stack_with(stack.rest(), x...), g, take_inner{}(static_cast<X&&>(x))...);
  }
};

// Compilers may instantiate a rule's return type before its constraints; then C may be neither a context nor a call.
template <class C, class F, class... X>
struct recurse_type {
  using type = none;
};
template <class C, class F, class... X>
requires(is_context<C> || requires { typename C::stack_type; }) struct recurse_type<C, F, X...> {
  using type = typename recursion<typename recursion_stack<C, F, X...>::type, F, X...>::type;
};

} // namespace detail

/// The type of recurse(context, f, x...), or of recurse(call, f, x...) if C is the type of a rule's call.
template <class C, class F, class... X>
using recurse_t = typename detail::recurse_type<C, F, std::remove_cvref_t<X>...>::type;

/// For rules: makes the call without the rule, in the context: runs f's body, or the primitive one level down. No hook observes f itself.
/// Accepts and returns inner values or tagged ones, as rules do. The form with a context is deprecated, since it knows only the class in
/// which the rule is written, and the contexts of the arguments. Take the call (see rule_call).
template <is_context C, callee F, class... X>
OVERDUB_INLINE constexpr recurse_t<C, F, X...> recurse(C& context, F const& f, X&&... x) {
  using S = typename detail::recursion_stack<C, F, std::remove_cvref_t<X>...>::type;
  auto& own = static_cast<typename S::context&>(context);
  S const stack{own, detail::stack_from<typename S::tail>(x...)};
  return detail::recursion<S, F, std::remove_cvref_t<X>...>::run(stack, f, std::forward<X>(x)...);
}
template <rule_call Call, callee F, class... X>
OVERDUB_INLINE constexpr recurse_t<Call, F, X...> recurse(Call const& call, F const& f, X&&... x) {
  return detail::recursion<typename Call::stack_type, F, std::remove_cvref_t<X>...>::run(
      detail::stack_with(call.levels(), x...), f, std::forward<X>(x)...);
}

/// For rules: calls f on the inner values, outside of the context, without metadata.
template <is_context C, callee F, class... X>
OVERDUB_INLINE constexpr auto fallback(C&, F const& f, X&&... x) {
  using S = detail::assumed_stack_t<false, C, F, std::remove_cvref_t<X>...>;
  return detail::call(
      detail::stack_from<typename S::tail>(x...), f, detail::take_inner{}(std::forward<X>(x))...);
}
template <rule_call Call, callee F, class... X>
OVERDUB_INLINE constexpr auto fallback(Call const& call, F const& f, X&&... x) {
  return detail::call(
      detail::stack_with(call.levels().rest(), x...), f, detail::take_inner{}(std::forward<X>(x))...);
}

/// Whether f has a body for these arguments, into which `recurse` can continue.
template <class C, callee F, class... X>
requires(is_context<C> || rule_call<C>) constexpr bool can_recurse(C const&, F const&, X const&...) {
  return function<F>;
}

} // namespace overdub
