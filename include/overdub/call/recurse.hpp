// For rules: going on inside the context, or past it.
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
    return type_is<none>{}; // a rule's return type may be looked at before its constraints
  else if constexpr (function<F>) {
    using T = typename F::template body_type<S, wrap_t<S, A>...>;
    return type_is<strip_t<S, wrap_t<S, T>>>{};
  } else
    return type_is<strip_t<
        S, decltype(answer_primitive::structure(
               std::declval<S const&>(), std::declval<F const&>(), std::declval<wrap_t<S, A>>()...))>>{};
}

// Whether the body of F in the contexts of S is a function of a program that is staged: a function whose rule goes on into it may call
// itself, and the program ends.
template <class S, class F>
consteval bool is_staged_apart() {
  if constexpr (!is_symbolic<S> || !function<F>)
    return false;
  else
    return !S::tail::empty && !of_kind<F, kind::of_program> && std::is_empty_v<origin_t<F>>;
}

// Calls it. No context between observes it.
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

// The stack of recurse(context, f, x...): that of the call, if the call is given, else what a context and the arguments say of it.
template <class C, class F, class... A>
struct recursion_stack {
  using type = assumed_stack_t<true, C, F, A...>;
};
template <rule_call Call, class F, class... A>
struct recursion_stack<Call, F, A...> {
  using type = typename Call::stack_type;
};

// What a rule is given, without the metadata.
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

// Calls from a rule, outside of its context.
template <class S, class G, class... X>
struct call_below {
  OVERDUB_INLINE static constexpr auto run(S const& stack, G const& g, X&&... x) {
    if constexpr (callee<G>)
      return call(stack.rest(), g, static_cast<X&&>(x)...);
    else
      return g(wrap(stack.rest(), static_cast<X&&>(x))...);
  }
  OVERDUB_INLINE static constexpr auto fall_back(S const& stack, G const& g, X&&... x) {
    return call(stack.rest(), g, take_inner{}(static_cast<X&&>(x))...);
  }
};

// Compilers may look at a rule's return type before its constraints: C is neither a context nor a call then.
template <class C, class F, class... X>
struct recurse_type {
  using type = none;
};
template <class C, class F, class... X>
requires(is_context<C> || requires { typename C::stack_type; }) struct recurse_type<C, F, X...> {
  using type = typename recursion<typename recursion_stack<C, F, X...>::type, F, X...>::type;
};

} // namespace detail

/// The type of recurse(context, f, x...), and, with the type of a rule's call in the place of a context's, of recurse(call, f, x...).
template <class C, class F, class... X>
using recurse_t = typename detail::recurse_type<C, F, std::remove_cvref_t<X>...>::type;

/// For rules: what the call would have been without the rule, in the context: f's body, or the primitive one
/// level down. No hook fires for f itself. Takes and returns what rules do: inner values, or tagged ones.
/// The form with a context is deprecated: it knows the class that the rule is written in, and the contexts that the arguments travel in. Take
/// the call (see rule_call).
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
      call.levels(), f, std::forward<X>(x)...);
}

/// For rules: f on the inner values, outside of the context. Metadata is left behind.
template <is_context C, callee F, class... X>
OVERDUB_INLINE constexpr auto fallback(C&, F const& f, X&&... x) {
  using S = detail::assumed_stack_t<false, C, F, std::remove_cvref_t<X>...>;
  return detail::call(
      detail::stack_from<typename S::tail>(x...), f, detail::take_inner{}(std::forward<X>(x))...);
}
template <rule_call Call, callee F, class... X>
OVERDUB_INLINE constexpr auto fallback(Call const& call, F const& f, X&&... x) {
  return detail::call(call.levels().rest(), f, detail::take_inner{}(std::forward<X>(x))...);
}

/// Whether f has a body to go into with these arguments.
template <class C, callee F, class... X>
requires(is_context<C> || rule_call<C>) constexpr bool can_recurse(C const&, F const&, X const&...) {
  return function<F>;
}

} // namespace overdub
