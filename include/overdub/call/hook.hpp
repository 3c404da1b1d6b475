// Hooks: a context's observers of the calls made in it. They get concrete arguments, or the raw ones when
// they ask.
#pragma once

#include <overdub/call/rule.hpp>

#include <exception>
#include <type_traits>
#include <utility>

namespace overdub::detail {

struct before_hook {
  template <class C>
  static constexpr bool declared = has_before_v<C>;
  template <class C, class... X>
  OVERDUB_INLINE static constexpr auto call(C& context, X const&... x) -> decltype(context.before(x...)) {
    return context.before(x...);
  }
};
struct after_hook {
  template <class C>
  static constexpr bool declared = has_after_v<C>;
  template <class C, class... X>
  OVERDUB_INLINE static constexpr auto call(C& context, X const&... x) -> decltype(context.after(x...)) {
    return context.after(x...);
  }
};
struct failed_hook {
  template <class C>
  static constexpr bool declared = has_failed_v<C>;
  template <class C, class... X>
  OVERDUB_INLINE static constexpr auto call(C& context, X const&... x) -> decltype(context.failed(x...)) {
    return context.failed(x...);
  }
};

enum class listens { never, named, family, raw_named, raw_family };

template <class Hook, class C, class... X>
concept heard_as = requires(C& context, X const&... x) {
  Hook::call(context, x...);
};

template <class X>
using concrete_t = std::remove_cvref_t<decltype(make_concrete{}(std::declval<X const&>()))>;

// How C's hook takes a call of F with X...: the arguments of the call, behind the result or the exception if
// any.
template <class Hook, class S, class F, class... X>
consteval listens find_hook() {
  using C = typename S::context;
  if constexpr (!Hook::template declared<C>)
    return listens::never;
  else if constexpr (heard_as<Hook, C, like<F>, concrete_t<X>...>)
    return listens::named;
  else if constexpr (heard_as<Hook, C, F, concrete_t<X>...>)
    return listens::family;
  else if constexpr (heard_as<Hook, C, raw, like<F>, open_t<S, X const&>...>)
    return listens::raw_named;
  else if constexpr (heard_as<Hook, C, raw, F, open_t<S, X const&>...>)
    return listens::raw_family;
  else
    return listens::never;
}

template <class Hook, class S, class F, class... X>
constexpr void call_hook(S const& stack, F const& f, X const&... x) {
  constexpr listens how = find_hook<Hook, S, F, X...>();
  [[maybe_unused]] auto& context = stack.top().get();
  if constexpr (how == listens::named)
    Hook::call(context, like<F>{f}, make_concrete{}(x)...);
  else if constexpr (how == listens::family)
    Hook::call(context, f, make_concrete{}(x)...);
  else if constexpr (how == listens::raw_named)
    Hook::call(context, raw{}, like<F>{f}, open(stack, x)...);
  else if constexpr (how == listens::raw_family)
    Hook::call(context, raw{}, f, open(stack, x)...);
}

} // namespace overdub::detail
