// For rules: going on inside the context, or past it.
#pragma once

#include <overdub/call/derived.hpp>
#include <overdub/call/scope.hpp>

#include <type_traits>
#include <utility>

namespace overdub {
namespace detail {

// The level that a rule's arguments were taken from, and the stack that they are given in.
template <class X>
struct taken_from {
  using type = void;
};
template <class T, class M, class L>
struct taken_from<tagged<T, M, L>> {
  using type = L;
};

template <class... T>
struct first_level {
  using type = void;
};
template <class... R>
struct first_level<void, R...> : first_level<R...> {};
template <class L, class... R>
struct first_level<L, R...> {
  using type = L;
};

template <class C, class L>
struct own_level {
  using type = level<C, void>;
};
// A rule may be inherited: the level knows the context that it runs for.
template <class C, class D, class Run>
requires std::is_base_of_v<C, D>
struct own_level<C, level<D, Run>> {
  using type = level<D, Run>;
};

template <class C, class... A>
using recursion_stack_t = push_t<
    typename own_level<C, typename first_level<typename taken_from<A>::type...>::type>::type,
    outermost_t<A...>>;

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

} // namespace detail

/// The type of recurse(context, f, x...).
template <class C, class F, class... X>
using recurse_t = typename decltype(detail::recursion_result<
                                    detail::recursion_stack_t<C, std::remove_cvref_t<X>...>, F,
                                    std::remove_cvref_t<X>...>())::type;

/// For rules: what the call would have been without the rule, in the context: f's body, or the primitive one
/// level down. No hook fires for f itself. Takes and returns what rules do: inner values, or tagged ones.
template <is_context C, callee F, class... X>
OVERDUB_INLINE constexpr recurse_t<C, F, X...> recurse(C& context, F const& f, X&&... x) {
  using S = detail::recursion_stack_t<C, std::remove_cvref_t<X>...>;
  auto& own = static_cast<typename S::context&>(context);
  S const stack{own, detail::stack_from<typename S::tail>(x...)};
  if constexpr (function<F>)
    return detail::strip(
        stack, detail::wrap(stack, f.run(stack, detail::wrap(stack, std::forward<X>(x))...)));
  else
    return detail::strip(
        stack, detail::answer_primitive::structure(stack, f, detail::wrap(stack, std::forward<X>(x))...));
}

namespace detail {
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
} // namespace detail

/// For rules: f on the inner values, outside of the context. Metadata is left behind.
template <is_context C, callee F, class... X>
OVERDUB_INLINE constexpr auto fallback(C&, F const& f, X&&... x) {
  return detail::call(
      detail::stack_from<detail::outermost_t<X...>>(x...), f, detail::take_inner{}(std::forward<X>(x))...);
}

/// Whether f has a body to go into with these arguments.
template <is_context C, callee F, class... X>
constexpr bool can_recurse(C const&, F const&, X const&...) {
  return function<F>;
}

} // namespace overdub
