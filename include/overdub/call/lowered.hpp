// Adapters for function arguments of a control primitive, when the primitive's call passes from a context to the next inner one: they wrap
// their arguments into the outer context, and strip its part from the results.
#pragma once

#include <overdub/call/dispatch.hpp>

#include <type_traits>

namespace overdub {
namespace detail {

template <class S, class F, view V>
struct lowered;

// Calls a user's function object that was passed to a control primitive.
template <class F, class... X>
OVERDUB_INLINE constexpr decltype(auto) call_given(F const& f, X&&... x) {
  OVERDUB_INLINE_CALLS return f(static_cast<X&&>(x)...);
}

// A user's function is stored by reference, another adapter by value.
template <class F>
struct lowered_slot {
  using type = F const&;
};
template <class S, class F, view V>
struct lowered_slot<lowered<S, F, V>> {
  using type = lowered<S, F, V>;
};

// Adapts f to the level inside of S: wraps its arguments into S, calls f in S, and unwraps the result by V. The result of a predicate loses
// its metadata, except in a symbolic context.
template <class S, class F, view V = view::strip>
struct lowered : S {
  using function_type = F;
  typename lowered_slot<F>::type f;

  OVERDUB_INLINE constexpr lowered(F const& function, S const& contexts) : S(contexts), f(function) {}

  template <class... X>
  OVERDUB_INLINE constexpr auto operator()(X&&... x) const {
    S const& levels = *this;
    [[maybe_unused]] std::conditional_t<callee<F>, no_watch, watch_t<S>> const watching(levels, "<lambda>");
    if constexpr (callee<F>)
      return unwrap<V>(levels, wrap(levels, call(levels, f, wrap(levels, static_cast<X&&>(x))...)));
    else
      return unwrap<V>(levels, wrap(levels, call_given(f, wrap(levels, static_cast<X&&>(x))...)));
  }
};
// The context into which a lowered function wraps its arguments; void for a function that is not lowered.
template <class F>
struct lowered_from {
  using type = void;
};
template <class S, class F, view V>
struct lowered_from<lowered<S, F, V>> {
  using type = typename S::head;
};
template <class F>
using lowered_from_t = typename lowered_from<F>::type;

template <class S, class F>
OVERDUB_INLINE constexpr lowered<S, F> lower(S const& stack, F const& f) {
  return {f, stack};
}
template <class S, class F>
OVERDUB_INLINE constexpr lowered<S, F, symbolic<typename S::context> ? view::strip : view::inner>
lower_predicate(S const& stack, F const& f) {
  return {f, stack};
}

} // namespace detail

/// Whether F, a function argument of a rule for a control primitive, is the callee G, adapted to the level of the rule. It is false for an
/// operation that `reduce` passes unchanged, because the context does not intercept it.
template <class F, class G>
inline constexpr bool is_lowered = false;
template <class S, class G, detail::view V>
inline constexpr bool is_lowered<detail::lowered<S, G, V>, G> = true;

} // namespace overdub
