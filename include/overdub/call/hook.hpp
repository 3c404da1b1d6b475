// Hooks: a context's observers of calls. They receive concrete arguments, or raw ones if their first parameter is `raw`.
#pragma once

#include <overdub/call/rule.hpp>

#include <exception>
#include <type_traits>
#include <utility>

namespace overdub::detail {

// Concepts for hooks that name the callee, hooks for a family, and hooks with raw arguments. A hook with a parameter `double` accepts
// integers by implicit conversion, as declared.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wfloat-conversion"
#ifdef __clang__
#pragma GCC diagnostic ignored "-Wimplicit-conversion-floating-point-to-bool"
#endif
#define OVERDUB_HOOK(NAME)                                                                                   \
  struct NAME##_hook {                                                                                       \
    template <class C>                                                                                       \
    static constexpr bool declared = declares_##NAME<C>;                                                     \
    template <class C, class F, class... X>                                                                  \
    OVERDUB_INLINE static constexpr auto named(C& context, F const& f, X const&... x)                        \
        -> decltype(context.NAME({f}, x...)) {                                                               \
      return context.NAME({f}, x...);                                                                        \
    }                                                                                                        \
    template <class C, class F, class... X>                                                                  \
    OVERDUB_INLINE static constexpr auto family(C& context, F const& f, X const&... x)                       \
        -> decltype(context.NAME(f, x...)) {                                                                 \
      return context.NAME(f, x...);                                                                          \
    }                                                                                                        \
    template <class C, class F, class... X>                                                                  \
    OVERDUB_INLINE static constexpr auto raw_named(C& context, F const& f, X const&... x)                    \
        -> decltype(context.NAME(raw{}, {f}, x...)) {                                                        \
      return context.NAME(raw{}, {f}, x...);                                                                 \
    }                                                                                                        \
    template <class C, class F, class... X>                                                                  \
    OVERDUB_INLINE static constexpr auto raw_family(C& context, F const& f, X const&... x)                   \
        -> decltype(context.NAME(raw{}, f, x...)) {                                                          \
      return context.NAME(raw{}, f, x...);                                                                   \
    }                                                                                                        \
  };
OVERDUB_HOOK(before)
OVERDUB_HOOK(after)
OVERDUB_HOOK(failed)
#undef OVERDUB_HOOK
#pragma GCC diagnostic pop

enum class hook_kind { never, named, origin, family, raw_named, raw_family };

// A hook that names a function also observes the functions that outer contexts derived from it.
template <class F>
concept made_of_function = requires {
  requires F::depth >
  0;
  requires !std::is_same_v<origin_t<F>, F>;
  requires std::is_empty_v<origin_t<F>> && std::is_default_constructible_v<origin_t<F>>;
};

template <class Hook, class C, class F, class... X>
inline constexpr bool observes_origin = false;
template <class Hook, class C, made_of_function F, class... X>
inline constexpr bool
    observes_origin<Hook, C, F, X...> = requires(C& c, origin_t<F> const& f, X const&... x) {
  Hook::named(c, f, x...);
};

// What hooks receive for an argument X: the value without contexts.
template <class X>
struct hook_argument {
  static constexpr decltype(auto) of(X const& x) { return make_concrete{}(x); }
};
template <class X>
using observed_t = std::remove_cvref_t<decltype(hook_argument<X>::of(std::declval<X const&>()))>;

// The kind of C's hook for a call of F with X...: the result or the exception, if any, and the arguments of the call.
template <class Hook, class S, class F, class... X>
consteval hook_kind find_hook() {
  using C = typename S::context;
  if constexpr (!Hook::template declared<C>)
    return hook_kind::never;
  else if constexpr (requires(C & c, F const& f, observed_t<X> const&... x) { Hook::named(c, f, x...); })
    return hook_kind::named;
  else if constexpr (observes_origin<Hook, C, F, observed_t<X>...>)
    return hook_kind::origin;
  else if constexpr (requires(C & c, F const& f, observed_t<X> const&... x) { Hook::family(c, f, x...); })
    return hook_kind::family;
  else if constexpr (requires(C & c, F const& f, open_t<S, X const&> const&... x) {
                       Hook::raw_named(c, f, x...);
                     })
    return hook_kind::raw_named;
  else if constexpr (requires(C & c, F const& f, open_t<S, X const&> const&... x) {
                       Hook::raw_family(c, f, x...);
                     })
    return hook_kind::raw_family;
  else
    return hook_kind::never;
}

template <class C>
concept is_extension = requires {
  typename C::overdub_bases;
};
// Whether a context that extends<...> several has, besides the hook of that kind, a hook of another base, with `raw`.
template <class Hook, class S, class F, class... X>
consteval bool has_raw_hook_too(hook_kind how) {
  using C = typename S::context;
  if constexpr (is_extension<C>)
    return how == hook_kind::family && requires(C & c, F const& f, open_t<S, X const&> const&... x) {
      Hook::raw_family(c, f, x...);
    };
  else
    return false;
}

// Stages a hook as a call of a native function, which runs with the program. Defined in stage/hooks.hpp.
template <class Hook, class S, class F, class... X>
void stage_hook(S const& stack, F const& f, X const&... x);

template <class Hook, class S, class F, class... X>
constexpr void call_hook(S const& stack, F const& f, X const&... x) {
  constexpr hook_kind how = find_hook<Hook, S, F, X...>();
  if (stack.top().is_null()) [[unlikely]]
    return; // a call of constants alone
  [[maybe_unused]] auto& context = stack.top().get();
  if constexpr (is_symbolic<S>) {
    if constexpr (how != hook_kind::never) stage_hook<Hook>(stack, f, x...);
  } else if constexpr (how == hook_kind::named)
    Hook::named(context, f, hook_argument<X>::of(x)...);
  else if constexpr (how == hook_kind::origin)
    Hook::named(context, origin_t<F>{}, hook_argument<X>::of(x)...);
  else if constexpr (how == hook_kind::family)
    Hook::family(context, f, hook_argument<X>::of(x)...);
  else if constexpr (how == hook_kind::raw_named)
    Hook::raw_named(context, f, open(stack, x)...);
  else if constexpr (how == hook_kind::raw_family)
    Hook::raw_family(context, f, open(stack, x)...);
  if constexpr (!is_symbolic<S> && has_raw_hook_too<Hook, S, F, X...>(how))
    Hook::raw_family(context, f, open(stack, x)...);
}

} // namespace overdub::detail
