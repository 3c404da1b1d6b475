// The call, the optional first parameter of a rule: it has the callee, and the contexts that run, with types and references. The other
// parameters do not determine these if the rule is inherited, or if the function has no arguments.
#pragma once

#include <overdub/call/callee.hpp>
#include <overdub/call/lift.hpp>

#include <concepts>
#include <type_traits>
#include <utility>

namespace overdub {
namespace detail {
struct rule_call_base {};

// Stores a callee; one without captures takes no space.
template <class F, bool = std::is_empty_v<F>>
struct function_slot {
  constexpr explicit function_slot(F const& f) : function_(&f) {}
  constexpr F const& function() const { return *function_; }
  F const* function_;
};
template <class F>
inline constexpr F stateless_function{};
template <class F>
requires std::is_default_constructible_v<F>
struct function_slot<F, true> {
  constexpr explicit function_slot(F const&) {}
  static constexpr F const& function() { return stateless_function<F>; }
};
} // namespace detail

/// The concept of a rule's first parameter, before the callee, through which the rule continues the call:
///   auto overdub(overdub::rule_call auto call, overdub::sin_t f, auto x);
///   call.recurse(x...)   the call without the rule, in the context that runs, which may be of a derived class
///   call.fallback(x...)  the callee outside of the context, on the inner values, without metadata
///   call(g, x...)        calls g outside of the context, whatever its arguments are, if any
///   call.lift(x)         x as a constant of the inner contexts
///   call.callee()        the callee
///   call.context()       the context that runs, of its own class
template <class X>
concept rule_call = std::derived_from<std::remove_cvref_t<X>, detail::rule_call_base>;

namespace detail {

// Defined in recurse.hpp.
template <class S, class F, class... X>
struct recursion;
template <class S, class G, class... X>
struct call_below;

// A call of F that is handled by a rule of the head of the stack S.
template <class S, class F>
class answering : public rule_call_base, S, function_slot<F> {
public:
  using stack_type = S;
  using context_type = typename S::context;

  constexpr answering(S const& contexts, F const& f) : S(contexts), function_slot<F>(f) {}

  template <class... X>
  OVERDUB_INLINE constexpr typename recursion<S, F, std::remove_cvref_t<X>...>::type recurse(X&&... x) const {
    return recursion<S, F, std::remove_cvref_t<X>...>::run(
        stack_with(levels(), x...), callee(), static_cast<X&&>(x)...);
  }
  template <class... X>
  OVERDUB_INLINE constexpr auto fallback(X&&... x) const {
    return call_below<S, F, X...>::fall_back(levels(), callee(), static_cast<X&&>(x)...);
  }
  template <class G, class... X>
  OVERDUB_INLINE constexpr auto operator()(G const& g, X&&... x) const {
    return call_below<S, G, X...>::run(levels(), g, static_cast<X&&>(x)...);
  }
  template <class X>
  OVERDUB_INLINE constexpr auto lift(X&& x) const {
    return wrap(levels().rest(), static_cast<X&&>(x));
  }

  constexpr F const& callee() const { return function_slot<F>::function(); }
  constexpr context_type& context() const { return levels().top().get(); }
  constexpr S const& levels() const { return *this; }
};

// A stand-in for any call, in the probes for the functions that a context's rules name.
struct any_rule_call : rule_call_base {};

} // namespace detail
} // namespace overdub
