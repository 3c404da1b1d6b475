// exempt(f): a call of f that no context intercepts, nor the calls inside it. Unlike `enter`, which applies to all calls of a function, it
// applies to one call.
#pragma once

#include <overdub/call/fn.hpp>
#include <overdub/call/refused.hpp>

#include <string_view>
#include <type_traits>
#include <utility>

namespace overdub {
namespace detail {

// A call of F outside of the contexts that enclose staging, which records it as a call with the attribute `exempt`.
template <class F>
struct exempt_call {
  using overdub_callee = kind::function;
  using origin = origin_t<F>;
  static constexpr int depth = F::depth;
  static constexpr std::string_view name() { return F::name(); }

  F const& function;

  template <class S, class... X>
  using body_type = typename F::template body_type<S, X...>;
  template <class S, class... X>
  static consteval bool declares_type() {
    return F::template declares_type<S, X...>();
  }
  template <class S, class... X>
  OVERDUB_INLINE constexpr body_type<S, std::remove_cvref_t<X>...> run(S const& stack, X&&... x) const {
    return function.run(stack, static_cast<X&&>(x)...);
  }
};
template <class F>
inline constexpr bool is_exempt_call = false;
template <class F>
inline constexpr bool is_exempt_call<exempt_call<F>> = true;

// Leaves each context, as `enter` with `leave` does.
template <class S, class F, class... A>
OVERDUB_INLINE constexpr auto call_outside(S const& stack, F const& f, A&&... a) {
  if constexpr (S::empty)
    return call(stack, f, static_cast<A&&>(a)...);
  else if constexpr (symbolic<typename S::context>)
    return call(stack, exempt_call<F>{f}, static_cast<A&&>(a)...);
  else
    return wrap(stack, call_outside(stack.rest(), f, inner(stack, static_cast<A&&>(a))...));
}

// A function whose body is a primitive.
template <class F>
inline constexpr bool is_named_primitive = false;
template <fixed_string Name, callee Body>
inline constexpr bool is_named_primitive<fn_t<Name, Body>> = true;

} // namespace detail

/// A function whose calls are exempt. Its arguments are stripped of all contexts, and its result is a constant in them.
template <function F>
struct exempt_t {
  [[no_unique_address]] F function;

  template <class... A>
  OVERDUB_INLINE constexpr auto operator()(A&&... a) const {
    using S = detail::outermost_t<A...>;
    return run_in(detail::stack_from<S>(a...), static_cast<A&&>(a)...);
  }
  // The same, in the contexts of a scope.
  using is_exempt = void;
  template <class S, class... A>
  OVERDUB_INLINE constexpr auto run_in(S const& stack, A&&... a) const {
    constexpr bool knows_contexts = S::empty || sizeof...(A) > 0 || !detail::is_named_primitive<F>;
    static_assert(
        knows_contexts,
        "overdub: exempt(f) of a native function without arguments has no access to the contexts; "
        "name a function that makes the call, fn<\"name\">([](overdub::scope auto& cx) { return "
        "cx(f); }), and exempt that");
    return detail::call_outside(stack, function, static_cast<A&&>(a)...);
  }
};

/// exempt(f)(x...), or cx(exempt(f), x...), is a call that contexts do not intercept, nor the calls inside it. f is a function, a native
/// function or an operation that takes no functions. In a program the call has the attribute `exempt`, which passes preserve, and contexts
/// that rewrite the program do not change the call.
template <callee F>
constexpr auto exempt(F const& f) {
  constexpr bool takes_no_functions = !control<F>;
  static_assert(
      takes_no_functions, "overdub: exempt takes functions, native functions, and operations that take no "
                          "functions; name a function that makes this call by fn<\"name\">, and exempt that");
  if constexpr (!takes_no_functions)
    return detail::refused{};
  else if constexpr (function<F>)
    return exempt_t<F>{f};
  else {
    using G = fn_t<detail::fixed_name_of<F>(), F>;
    return exempt_t<G>{G{f}};
  }
}

} // namespace overdub
