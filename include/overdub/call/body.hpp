// Calls the body of a function, with or without the scope as its first argument.
#pragma once

#include <overdub/call/plain_call.hpp>
#include <overdub/call/scope.hpp>

#include <string_view>
#include <type_traits>
#include <utility>

namespace overdub::detail {

template <class B, class... X>
concept invocable = requires(B const& body, X&&... x) {
  body(static_cast<X&&>(x)...);
};

enum class body_form { none, plain, scoped };

// Tests whether a body that does not accept A... has an unconstrained first parameter, such as `auto x`, which is meant for an argument and
// not for the scope. In that case these overloads make the call ambiguous; the body is not instantiated.
struct no_scope {};
template <class B>
struct scope_probe : B {
  using B::operator();
  template <class X>
  none operator()(X&&) const;
  template <class X, class Y>
  none operator()(X&&, Y&&) const;
  template <class X, class Y, class Z>
  none operator()(X&&, Y&&, Z&&) const;
};
template <class B, class... A>
concept mistakes_scope = std::is_class_v<B> && !std::is_final_v<B> && sizeof...(A) < 3 &&
                         !requires(scope_probe<B> const& probe, A const&... a) {
  probe(no_scope{}, a...);
};

// A body that takes its scope wherever it has one, and can also be called without.
template <class B>
concept prefers_scope = requires {
  typename B::prefers_scope;
};

template <class B, class Scope, class... A>
consteval body_form find_form() {
  if constexpr (prefers_scope<B>)
    return invocable<B, Scope&, A...> ? body_form::scoped : body_form::none;
  else if constexpr (invocable<B, A...>)
    return body_form::plain;
  else if constexpr (mistakes_scope<B, A...>)
    return body_form::none;
  else if constexpr (invocable<B, Scope&, A...>)
    return body_form::scoped;
  else
    return body_form::none;
}

template <class Function, class Body, class Scope, class... Arguments>
struct body_call {
  static constexpr body_form form = find_form<Body, Scope, Arguments...>();
  static consteval auto find() {
    constexpr bool is_native =
        form == body_form::none && std::is_pointer_v<Body> && !outermost_t<Arguments...>::empty;
    static_assert(
        !is_native,
        "overdub: a C++ function of plain numbers is the body of a fn, and is called with values of "
        "a context; write leaf<\"name\">(f), or give a lambda with `auto` parameters");
    constexpr bool takes_references = [] {
      if constexpr (form == body_form::none && !is_native)
        return invocable<Body, Arguments&...> || invocable<Body, Scope&, Arguments&...>;
      else
        return false;
    }();
    static_assert(
        !takes_references, "overdub: the body of this function takes a parameter `auto&`, and arguments are "
                           "passed by value; take `auto`, and return what the body changes");
    static_assert(
        form != body_form::none || is_native || takes_references,
        "overdub: the body of this function cannot be called with these arguments; if an error above is in "
        "the body, mend that one; else check their number and types, and take parameters as `auto` so that "
        "they accept values of contexts");
    if constexpr (form == body_form::plain)
      return type_is<decltype(std::declval<Body const&>()(std::declval<Arguments>()...))>{};
    else if constexpr (form == body_form::scoped)
      return type_is<decltype(std::declval<Body const&>()(
          std::declval<Scope&>(), std::declval<Arguments>()...))>{};
    else
      return type_is<refused>{};
  }
  // A function that returns void returns `none` in contexts.
  using declared = std::remove_cvref_t<typename decltype(find())::type>;
  using type = std::conditional_t<std::is_void_v<declared>, none, declared>;
};

template <class F>
constexpr std::string_view body_name() {
  if constexpr (callee<F>)
    return F::name();
  else
    return "<lambda>";
}
template <class F>
constexpr auto const& body_of(F const& f) {
  if constexpr (callee<F>)
    return f.body;
  else
    return f;
}

// Calls a body that returns R, or void if R is `none`.
template <class R, class B, class... X>
OVERDUB_INLINE constexpr R call_body(B const& body, X&&... x) {
  if constexpr (std::is_void_v<decltype(body(static_cast<X&&>(x)...))>) {
    body(static_cast<X&&>(x)...);
    return {};
  } else
    return body(static_cast<X&&>(x)...);
}

// The same for a body whose only caller is a function of its own, into which it is inlined.
template <class R, class B, class... X>
OVERDUB_INLINE constexpr R inline_body(B const& body, X&&... x) {
  if constexpr (std::is_void_v<decltype(body(static_cast<X&&>(x)...))>)
    return call_body<R>(body, static_cast<X&&>(x)...);
  else
    OVERDUB_INLINE_CALLS return body(static_cast<X&&>(x)...);
}

// A function that takes its scope may be recursive, and is not inlined: otherwise compilers would unroll the recursion differently in each
// context. Stateless contexts are not passed at all.
template <class R, class S, class F, class... X>
[[gnu::noinline]] constexpr R run_scoped(running<S, F> cx, X... x) {
  return inline_body<R>(body_of(cx.function()), cx, std::move(x)...);
}

// Strips a value of the contexts of S up to and including the first one with metadata, and wraps it again.
template <class S, class X>
OVERDUB_INLINE constexpr auto strip_all(S const& stack, X&& x) {
  if constexpr (S::empty)
    return std::remove_cvref_t<X>(static_cast<X&&>(x));
  else if constexpr (carries_metadata<typename S::context>)
    return strip(stack, std::remove_cvref_t<X>(static_cast<X&&>(x)));
  else
    return strip_all(stack.rest(), strip(stack, std::remove_cvref_t<X>(static_cast<X&&>(x))));
}
template <class S, class X>
OVERDUB_INLINE constexpr auto wrap_all(S const& stack, X&& x) {
  if constexpr (S::empty)
    return std::remove_cvref_t<X>(static_cast<X&&>(x));
  else if constexpr (carries_metadata<typename S::context>)
    return wrap(stack, static_cast<X&&>(x));
  else
    return wrap(stack, wrap_all(stack.rest(), static_cast<X&&>(x)));
}
template <class S, class X>
using strip_all_t = decltype(strip_all(std::declval<S const&>(), std::declval<X>()));
template <class S, class X>
using wrap_all_t = decltype(wrap_all(std::declval<S const&>(), std::declval<X>()));

// Contexts with state are passed once, in the scope, and not with each value: they take one register, however many they are, and the
// compiler knows that all values refer to the same contexts.
template <class S, class... X>
concept restored = !std::is_empty_v<S> && (std::is_same_v<wrap_all_t<S, strip_all_t<S, X>>, X> && ...);

// Wraps the arguments directly into the body's parameters, without a copy.
template <class R, class S, class F, class... X>
[[gnu::noinline]] constexpr strip_all_t<S, R> run_stripped(running<S, F> cx, strip_all_t<S, X>... x) {
  auto const& body = body_of(cx.function());
  if constexpr (std::is_void_v<decltype(body(cx, wrap_all(cx.levels(), std::move(x))...))>) {
    body(cx, wrap_all(cx.levels(), std::move(x))...);
    return strip_all(cx.levels(), R{});
  } else
    OVERDUB_INLINE_CALLS return strip_all(cx.levels(), R(body(cx, wrap_all(cx.levels(), std::move(x))...)));
}
// Whether the stack has several contexts, all with only `before` hooks. A value has a reference to each context until the body and its
// branches are inlined, and g++ inlines these only with the attribute `flatten` on the function that calls the body. It also inlines all
// callees of the body, so that other stacks do not use it.
template <class S>
inline constexpr bool only_before_hooks_in_all = S::depth > 1 && below_before_hooks<S>::type::empty;
template <class R, class S, class F, class... X>
[[gnu::noinline, OVERDUB_FLATTEN]] constexpr strip_all_t<S, R>
run_flat(running<S, F> cx, strip_all_t<S, X>... x) {
  auto const& body = body_of(cx.function());
  if constexpr (std::is_void_v<decltype(body(cx, wrap_all(cx.levels(), std::move(x))...))>) {
    body(cx, wrap_all(cx.levels(), std::move(x))...);
    return strip_all(cx.levels(), R{});
  } else
    OVERDUB_INLINE_CALLS return strip_all(cx.levels(), R(body(cx, wrap_all(cx.levels(), std::move(x))...)));
}

template <class F>
constexpr std::string_view name_of_body() {
  if constexpr (callee<F>)
    return F::name();
  else
    return "a function with a scope";
}

template <class S, class F, class... X>
OVERDUB_INLINE constexpr auto run_body(S const& stack, F const& f, X&&... x) -> typename body_call<
    F, std::remove_cvref_t<decltype(body_of(f))>, running<S, F>, std::remove_cvref_t<X>...>::type {
  using Call =
      body_call<F, std::remove_cvref_t<decltype(body_of(f))>, running<S, F>, std::remove_cvref_t<X>...>;
  [[maybe_unused]] watch_t<S> const watching(stack, body_name<F>());
  using R = typename Call::type;
  begun_lifetime<Call::form == body_form::scoped && keeps_call<S, F>> const going_on;
  if constexpr (is_refused<R>) return refused{};
  if constexpr (Call::form == body_form::plain)
    return call_body<R>(body_of(f), std::remove_cvref_t<X>(static_cast<X&&>(x))...);
  // A scope is that of a run.
  if constexpr (Call::form == body_form::scoped && !std::is_empty_v<S>)
    if (has_null(stack)) [[unlikely]]
      throw_constants(name_of_body<F>(), context_name_v<typename S::context>);
  if constexpr (Call::form == body_form::scoped && !restored<S, R, std::remove_cvref_t<X>...>)
    return run_scoped<R, S, F, std::remove_cvref_t<X>...>(
        running<S, F>(stack, f, going_on.get()), static_cast<X&&>(x)...);
  else if constexpr (Call::form == body_form::scoped && only_before_hooks_in_all<S>)
    return wrap_all(
        stack, run_flat<R, S, F, std::remove_cvref_t<X>...>(
                   running<S, F>(stack, f, going_on.get()), strip_all(stack, static_cast<X&&>(x))...));
  else if constexpr (Call::form == body_form::scoped)
    return wrap_all(
        stack, run_stripped<R, S, F, std::remove_cvref_t<X>...>(
                   running<S, F>(stack, f, going_on.get()), strip_all(stack, static_cast<X&&>(x))...));
}

} // namespace overdub::detail
