// The derived function "f in S": f's body in the contexts of S. It is called one level down, where the next context intercepts it.
#pragma once

#include <overdub/call/callee_name.hpp>
#include <overdub/call/dispatch.hpp>
#include <overdub/call/name.hpp>

#include <string_view>
#include <type_traits>

namespace overdub::detail {

template <class F>
OVERDUB_HIDDEN inline constexpr std::string_view callee_name_of = F::name();

template <class S, class F>
struct derived {
  using overdub_callee = kind_of<F>;
  using origin = origin_t<F>;
  static constexpr int depth = F::depth + 1;
  static constexpr bool is_typed = !is_untyped<F>;
  static constexpr bool is_named = named_at_compile_time<F>;
  static constexpr std::string_view name() {
    if constexpr (named_at_compile_time<F>)
      return joined<callee_name_of<F>, context_name_v<typename S::context>>::value;
    else if (std::is_constant_evaluated())
      return name_at_compile_time;
    else
      return interned_name(F::name(), context_name_v<typename S::context>);
  }

  static constexpr bool depends_on_state =
      overdub::depends_on_state<F> ||
      (!std::is_empty_v<typename S::context> &&
       (declares_rules<typename S::context> || declares_enter<typename S::context> ||
        carries_metadata<typename S::context>));

  F const& f;
  S const& stack;

  constexpr auto const& call_of_program() const requires of_kind<F, kind::of_program> {
    return f.call_of_program();
  }

  // The stack of the body, on top of T: the head of S, or the context that `enter` returned.
  template <class T>
  using above = push_t<typename S::head, T>;

  template <class T, class... X>
  static consteval bool declares_type() {
    return F::template declares_type<above<T>, wrap_t<above<T>, X>...>();
  }
  template <class T, class... X>
  using body_type =
      strip_t<above<T>, wrap_t<above<T>, typename F::template body_type<above<T>, wrap_t<above<T>, X>...>>>;

  template <class T, class... X>
  OVERDUB_INLINE constexpr body_type<T, std::remove_cvref_t<X>...> run(T const& tail, X&&... x) const {
    if constexpr (std::is_same_v<above<T>, S>)
      if (&tail == &stack.rest())
        return run_in<T>(stack, static_cast<X&&>(x)...); // this is still the call in `stack`
    return run_in<T>(above<T>{stack.top(), tail}, static_cast<X&&>(x)...);
  }
  template <class... A>
  OVERDUB_INLINE constexpr decltype(auto) operator()(A&&... a) const {
    return call(outermost_stack(a...), *this, static_cast<A&&>(a)...);
  }

private:
  template <class T, class... X>
  OVERDUB_INLINE constexpr body_type<T, std::remove_cvref_t<X>...>
  run_in(above<T> const& to, X&&... x) const {
    return strip_result(to, wrap(to, f.run(to, wrap(to, static_cast<X&&>(x))...)));
  }
  template <class... A>
  static constexpr auto outermost_stack(A const&... a) {
    return stack_from<outermost_t<A...>>(a...);
  }
};

} // namespace overdub::detail
