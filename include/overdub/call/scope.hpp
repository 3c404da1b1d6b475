// The scope of a function: the contexts in which it runs, for calls without a value among their arguments.
#pragma once

#include <overdub/call/dispatch.hpp>

#include <concepts>
#include <type_traits>
#include <utility>

namespace overdub {
namespace detail {
struct scope_base {};
} // namespace detail

/// The concept of a body's optional first parameter: fn<"f">([](overdub::scope auto& cx, auto x) { ... }).
///   cx(g, x...)   calls g in the contexts in which the function runs, whatever its arguments are
///   cx.self(x...) calls the function itself
///   cx.lift(x)    x as a constant of those contexts
///   cx.tag(x, m)  x as a value of those contexts, with the metadata m for the outermost one that has metadata
template <class X>
concept scope = std::derived_from<std::remove_cvref_t<X>, detail::scope_base>;

namespace detail {

// The type of a recursive call of F. It is unknown while it is being deduced from the body.
template <class S, class F, class... X>
consteval auto find_self() {
  constexpr bool known = requires { typename result<S, F, X...>::type; };
  static_assert(
      known, "overdub: a function that calls itself through cx.self must declare the type that it returns: "
             "[](overdub::scope auto& cx, auto n) -> decltype(n) { ... }");
  if constexpr (known)
    return type_is<result_t<S, F, X...>>{};
  else
    return type_is<refused>{};
}
template <class S, class F, class... X>
using self_t = typename decltype(find_self<S, F, X...>())::type;
// The type of a callee's call; empty for types that are not callees, since compilers may instantiate it before checking constraints.
template <class S, class G, class... X>
struct callee_call {};
template <class S, callee G, class... X>
struct callee_call<S, G, X...> {
  using type = call_t<S, G, X...>;
};

// Calls f in S, as the body of a function does that runs in S.
template <class S, class F, class... A>
OVERDUB_INLINE constexpr call_t<S, F, A...> call_in(S const& stack, F const& f, A&&... a) {
  if constexpr (S::empty && (stack_in_t<std::remove_cvref_t<A>>::empty && ...))
    return call_plainly(f, static_cast<A&&>(a)...);
  else
    return call(stack, f, static_cast<A&&>(a)...);
}

// A reference to the stack of a function; an empty stack is stored by value.
template <class S, bool = std::is_empty_v<S>>
struct stack_reference {
  constexpr explicit stack_reference(S const& s) : stack_(&s) {}
  constexpr S const& levels() const { return *stack_; }

private:
  S const* stack_;
};
template <class S>
struct stack_reference<S, true> : S {
  constexpr explicit stack_reference(S const& s) : S(s) {}
  constexpr S const& levels() const { return *this; }
};

// Sets the metadata of the outermost context with metadata, for a value of the contexts of S, or for an object without contexts. Returns
// the value unchanged if no context has metadata.
template <class S, class X, class M>
OVERDUB_INLINE constexpr auto with_metadata(S const& stack, X const& x, M const& metadata) {
  if constexpr (S::empty)
    return x;
  else {
    using C = typename S::context;
    auto const& below = [&]() -> decltype(auto) {
      if constexpr (is_value<X>)
        return x.inner();
      else
        return (x);
    }();
    if constexpr (carries_metadata<C>) {
      auto inner = wrap_tagged(stack.rest(), below);
      using I = decltype(inner);
      auto kept = become<metadata_t<C, I>>(stack.rest(), metadata, inner);
      return value<I, C, typename S::head::run>(std::move(inner), std::move(kept), stack.top());
    } else {
      auto tagged_below = with_metadata(stack.rest(), below, metadata);
      using I = decltype(tagged_below);
      if constexpr (is_leaf<I>)
        return value<I, C, typename S::head::run>(std::move(tagged_below), none{}, stack.top());
      else
        return tagged_below;
    }
  }
}
template <class X>
consteval bool takes_one_tag() {
  constexpr bool one = is_leaf<X> || !tree<X>;
  static_assert(one, "overdub: cx.tag takes one value; tag the members of a tree one by one");
  return one;
}

// Whether a scope stores, in checked builds, the lifetime of its call: see keeps_lifetime.
template <class S, class F>
inline constexpr bool keeps_call =
    OVERDUB_CHECKED && !is_symbolic<S> && !(std::is_empty_v<S> && std::is_empty_v<F>);

template <bool Kept>
struct kept_call {
  constexpr explicit kept_call(lifetime) {}
  template <class F>
  static constexpr void check() {}
};
#if OVERDUB_CHECKED
template <>
struct kept_call<true> {
  constexpr explicit kept_call(lifetime of_call) : of_call_(of_call) {}
  template <class F>
  constexpr void check() const {
    if (!of_call_.is_over()) return;
    if constexpr (callee<F>)
      throw_scope_outlived(F::name());
    else
      throw_scope_outlived("<lambda>");
  }

private:
  lifetime of_call_;
};
#endif

template <class S, class F>
class running : public scope_base, stack_reference<S>, function_slot<F>, kept_call<keeps_call<S, F>> {
  using kept = kept_call<keeps_call<S, F>>;

public:
  using stack_type = S;

  constexpr running(S const& contexts, F const& f, lifetime of_call)
      : stack_reference<S>(contexts), function_slot<F>(f), kept(of_call) {}

  /// Calls the function itself, in the contexts in which it runs. Its body must declare its return type: -> decltype(n).
  template <class... X>
  OVERDUB_INLINE constexpr self_t<S, F, std::remove_cvref_t<X>...> self(X&&... x) const {
    if constexpr (is_refused<self_t<S, F, std::remove_cvref_t<X>...>>)
      return {};
    else
      return call_in(levels(), function(), static_cast<X&&>(x)...);
  }

  /// Calls a callee in the contexts in which the function runs. Other function objects are called with lifted arguments.
  template <callee G, class... X>
  OVERDUB_INLINE constexpr typename callee_call<S, G, X...>::type operator()(G const& g, X&&... x) const {
    return call_in(levels(), g, static_cast<X&&>(x)...);
  }
  template <class G, class... X>
  requires(!callee<G>) OVERDUB_INLINE constexpr decltype(auto) operator()(G const& g, X&&... x) const {
    if constexpr (requires { typename G::is_exempt; }) // also without arguments
      return g.run_in(levels(), wrap(levels(), static_cast<X&&>(x))...);
    else
      return g(wrap(levels(), static_cast<X&&>(x))...);
  }

  /// x as a constant of the contexts in which the function runs; a tree is lifted leaf by leaf.
  template <class X>
  OVERDUB_INLINE constexpr auto lift(X&& x) const {
    return wrap(levels(), static_cast<X&&>(x));
  }

  /// x as a value of the contexts in which the function runs, with metadata for the outermost context that has metadata, which replace
  /// those of x. x is a number, an array, a plain described struct or an opaque object. If no context has metadata, the same as lift(x).
  template <class X, class M>
  OVERDUB_INLINE constexpr auto tag(X const& x, M const& metadata) const {
    if constexpr (takes_one_tag<X>())
      return with_metadata(levels(), wrap(levels(), x), metadata);
    else
      return refused{};
  }

  constexpr S const& levels() const {
    kept::template check<F>();
    S const& all = stack_reference<S>::levels();
    if (has_null(all)) __builtin_unreachable(); // see run_body
    return all;
  }
  constexpr F const& function() const {
    kept::template check<F>();
    return function_slot<F>::function();
  }
};

} // namespace detail
} // namespace overdub
