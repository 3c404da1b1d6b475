// Running in a context, and going on inside one: overdub, run, recurse, fallback; metadata of values.
#pragma once

#include <overdub/call/compose.hpp>
#include <overdub/call/scope.hpp>
#include <overdub/call/types.hpp>

#include <type_traits>
#include <utility>

namespace overdub {
namespace detail {

// Whether values of an outer run may hide in an X: in captures or members that are no leaves of a tree.
template <class X>
consteval bool may_hide_values() {
  if constexpr (tree<X>)
    return []<class... T>(std::tuple<T...>*) {
      return (may_hide_values<std::remove_cvref_t<T>>() || ...);
    }(static_cast<typename tree_traits<X>::children*>(nullptr));
  else
    return !is_leaf<X> && !std::is_empty_v<X>;
}

// The run that a call of F with arguments A starts: by the types of those that may hide values of an outer
// run, which then differ in type from this run's. A context without metadata needs none: its values cannot be
// mistaken for one another's.
template <class F, class... A>
using hiding_t = concatenated_t<keep<may_hide_values<F>(), F>, keep<may_hide_values<A>(), A>...>;
template <class C, class Hiding>
using run_of_t = std::conditional_t<carries_metadata<C> && !std::is_same_v<Hiding, types<>>, Hiding, void>;

// The stack of a run: the contexts held, above those of S.
template <class Hiding, class S, class... C>
struct run_stack {
  using type = S;
};
template <class Hiding, class S, class C, class... Rest>
struct run_stack<Hiding, S, C, Rest...> {
  using type = push_t<level<C, run_of_t<C, Hiding>>, typename run_stack<Hiding, S, Rest...>::type>;
};

template <class Hiding, class S>
constexpr S make_run_stack(S const& below) {
  return below;
}
template <class Hiding, class S, class C, class... Rest>
constexpr auto make_run_stack(S const& below, C& context, Rest&... rest) {
  return typename run_stack<Hiding, S, C, Rest...>::type(context, make_run_stack<Hiding>(below, rest...));
}

template <class X>
inline constexpr bool is_tagged_by_hand = false;
template <class T, class M>
inline constexpr bool is_tagged_by_hand<tagged<T, M>> = true;

// An argument of a run, into the contexts of S down to those of Below. A tag is for the outermost context
// that keeps metadata; tags of tags are for the next ones.
template <class Below, class S, class X>
constexpr auto admit(S const& stack, X&& x);

template <class Below, class S>
struct admitter {
  S const& stack;
  template <class X>
  constexpr auto operator()(X&& x) const {
    return admit<Below>(stack, std::forward<X>(x));
  }
};

template <class Below, class S, class X>
constexpr auto admit(S const& stack, X&& x) {
  using T = std::remove_cvref_t<X>;
  if constexpr (std::is_same_v<S, Below> || is_leaf<T>) {
    constexpr bool taken = !is_tagged_by_hand<T>;
    static_assert(
        taken,
        "overdub: an argument is given as tag(x, metadata), and no context of this run keeps metadata for "
        "it; give x alone");
    if constexpr (taken)
      return wrap(stack, std::forward<X>(x));
    else
      return refused{};
  } else if constexpr (is_tagged<T>) {
    using C = typename S::context;
    if constexpr (carries_metadata<C>) {
      auto inner = admit<Below>(stack.rest(), std::forward<X>(x).inner);
      using I = decltype(inner);
      auto metadata = become<metadata_t<C, I>>(stack.rest(), std::forward<X>(x).metadata, inner);
      return value<I, C, typename S::head::run>(std::move(inner), std::move(metadata), stack.top());
    } else
      return wrap(stack, admit<Below>(stack.rest(), std::forward<X>(x)));
  } else if constexpr (tree<T>)
    return tree_traits<T>::map(admitter<Below, S>{stack}, std::forward<X>(x));
  else
    return T(std::forward<X>(x));
}

// A result of a run, out of the contexts of S down to those of Below.
template <class Below, class S, class X>
constexpr auto release(S const& stack, X&& x) {
  if constexpr (std::is_same_v<S, Below>)
    return std::remove_cvref_t<X>(std::forward<X>(x));
  else
    return release<Below>(stack.rest(), strip(stack, wrap(stack, std::forward<X>(x))));
}

template <class Below, class S, class F, class... A>
OVERDUB_INLINE constexpr auto run_in(S const& stack, F const& f, A&&... a) {
  if constexpr (callee<F>)
    return release<Below>(stack, call(stack, f, std::forward<A>(a)...));
  else
    return release<Below>(stack, run_body(stack, f, std::forward<A>(a)...));
}

// A composition as it is, so that contexts which it owns keep their state; one that is const, as a copy.
template <class Composition>
constexpr decltype(auto) changeable(Composition&& contexts) {
  if constexpr (is_composition<std::remove_reference_t<Composition>>)
    return (contexts);
  else
    return compose(std::forward<Composition>(contexts));
}

template <class Below, class Context, class F, class... A>
OVERDUB_INLINE constexpr auto start(Below const& below, Context&& context, F const& f, A&&... a) {
  if constexpr (!part_of_composition<Context>() || std::is_same_v<Below, unrelated>)
    return refused{};
  else if constexpr (!is_composition<std::remove_cvref_t<Context>>) {
    auto const stack = make_run_stack<hiding_t<F, std::remove_cvref_t<A>...>>(below, context);
    return run_in<Below>(stack, f, admit<Below>(stack, std::forward<A>(a))...);
  } else {
    auto&& contexts = changeable(std::forward<Context>(context));
    return hana::unpack(contexts.contexts, [&](auto&... held) OVERDUB_INLINE {
      auto const stack = make_run_stack<hiding_t<F, std::remove_cvref_t<A>...>>(below, get_held(held)...);
      return run_in<Below>(stack, f, admit<Below>(stack, std::forward<A>(a))...);
    });
  }
}

} // namespace detail

/// Runs f in a context, or in a composition of contexts: one level above the contexts of the deepest
/// argument. An argument is a constant, or tag(x, metadata). Returns what f returns: for a context without
/// metadata inner values, else tagged{inner, metadata} a leaf. The context is used by reference and may be
/// examined afterwards.
///   count c; overdub(c, f, 2.0);        overdub(forward{}, f, tag(2.0, 1.0)).metadata; overdub(compose(c,
///   d), f, 2.0);
template <class Context, class F, class... A>
requires(!scope<F>) constexpr auto overdub(Context&& context, F const& f, A&&... a) {
  using Below = detail::outermost_t<A...>;
  return detail::start(
      detail::stack_from<Below>(a...), std::forward<Context>(context), f, std::forward<A>(a)...);
}

/// As above, started inside a running function: one level above the contexts of its scope, whatever the
/// arguments are.
template <class Context, scope Scope, class F, class... A>
constexpr auto overdub(Context&& context, Scope const& cx, F const& f, A&&... a) {
  return detail::start(cx.levels(), std::forward<Context>(context), f, std::forward<A>(a)...);
}

/// `overdub`, under a name that stays unambiguous after `using namespace overdub`.
template <class Context, class... A>
constexpr auto run(Context&& context, A&&... a) {
  return overdub::overdub(std::forward<Context>(context), std::forward<A>(a)...);
}

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

// ---- metadata of values

/// A value in a context, with its metadata.
template <class T, is_context C, class M>
constexpr auto tag(T x, C& context, M metadata) {
  using S = detail::push_t<level<C, void>, detail::stack_in_t<T>>;
  S const stack{context, detail::stack_from<typename S::tail>(x)};
  return detail::wrap(stack, tagged<T, M, typename S::head>{std::move(x), std::move(metadata)});
}

/// The value that a value holds: one level down. A number is itself.
template <class X>
constexpr auto untag(X const& x) {
  if constexpr (detail::is_value<X>)
    return x.inner();
  else if constexpr (detail::is_tagged<X>)
    return x.inner;
  else
    return x;
}

/// The outermost context's metadata of a value; `none` when it keeps none.
template <class X>
constexpr auto metadata(X const& x) {
  if constexpr (detail::is_value<X>)
    return std::remove_cvref_t<decltype(x.metadata())>(x.metadata());
  else if constexpr (detail::is_tagged<X>)
    return x.metadata;
  else
    return none{};
}

/// Whether the outermost context of a value keeps metadata for it.
template <class X>
constexpr bool has_metadata(X const& x) {
  return !std::is_same_v<decltype(metadata(x)), none>;
}

} // namespace overdub
