// extends<Bases...>: a context that inherits the rules and hooks of several contexts. Plain inheritance would lose them without an error:
// in C++ a member hides the base members of the same name, and a name that several bases declare is ambiguous.
#pragma once

#include <overdub/call/hook.hpp>
#include <overdub/call/plain_call.hpp>

#include <string_view>
#include <type_traits>

namespace overdub {
namespace detail {

// Makes the rules and `enter` of all bases one overload set.
template <class Bases, class Rules, class Enter>
struct overloads_of;
template <class... C, class... R, class... E>
struct overloads_of<types<C...>, types<R...>, types<E...>> : C... {
  using R::overdub...;
  using E::enter...;
};

// Whether a base has a hook for a call. The hooks of all bases are called, in the order of the bases: as overloads, only one would be
// called.
template <class Hook, class B, class F, class... X>
concept observes = observes_origin<Hook, B, F, X...> || requires(B& base, F const& f, X const&... x) {
  Hook::named(base, f, x...);
} || requires(B& base, F const& f, X const&... x) {
  Hook::family(base, f, x...);
};
// The same for hooks with `raw`. X are values of the next context inward, which may have metadata. In a context that extends no others, a
// hook without `raw` takes precedence.
template <class Hook, class B, class F, class... X>
concept observes_raw = (is_extension<B> || !observes<Hook, B, F, observed_t<X>...>)&&(
    requires(B& base, F const& f, X const&... x) { Hook::raw_named(base, f, x...); } ||
    requires(B & base, F const& f, X const&... x) { Hook::raw_family(base, f, x...); });

template <class Hook, class B, class F, class... X>
constexpr void observe(B& base, F const& f, X const&... x) {
  if constexpr (requires { Hook::named(base, f, x...); })
    Hook::named(base, f, x...);
  else if constexpr (observes_origin<Hook, B, F, X...>)
    Hook::named(base, origin_t<F>{}, x...);
  else if constexpr (requires { Hook::family(base, f, x...); })
    Hook::family(base, f, x...);
}
template <class Hook, class B, class F, class... X>
constexpr void observe_raw(B& base, F const& f, X const&... x) {
  if constexpr (!observes_raw<Hook, B, F, X...>)
    return;
  else if constexpr (requires { Hook::raw_named(base, f, x...); })
    Hook::raw_named(base, f, x...);
  else
    Hook::raw_family(base, f, x...);
}

#define OVERDUB_OBSERVING(NAME)                                                                              \
  template <class Context, class Bases>                                                                      \
  struct observing_##NAME : Context {};                                                                      \
  template <class Context, class B, class... Rest>                                                           \
  struct observing_##NAME<Context, types<B, Rest...>> : Context {                                            \
    template <callee F, class... X>                                                                          \
    requires(                                                                                                \
        observes<NAME##_hook, B, F, X...> ||                                                                 \
        (observes<NAME##_hook, Rest, F, X...> || ...)) constexpr void NAME(F const& f, X const&... x) {      \
      observe<NAME##_hook>(static_cast<B&>(*this), f, x...);                                                 \
      (observe<NAME##_hook>(static_cast<Rest&>(*this), f, x...), ...);                                       \
    }                                                                                                        \
    template <callee F, class... X>                                                                          \
    requires(                                                                                                \
        observes_raw<NAME##_hook, B, F, X...> ||                                                             \
        (observes_raw<NAME##_hook, Rest, F, X...> ||                                                         \
         ...)) constexpr void NAME(raw, F const& f, X const&... x) {                                         \
      observe_raw<NAME##_hook>(static_cast<B&>(*this), f, x...);                                             \
      (observe_raw<NAME##_hook>(static_cast<Rest&>(*this), f, x...), ...);                                   \
    }                                                                                                        \
  };
OVERDUB_OBSERVING(before)
OVERDUB_OBSERVING(after)
OVERDUB_OBSERVING(failed)
#undef OVERDUB_OBSERVING

template <class Context, class Bases>
struct observing_unseen : Context {};
template <class Context, class B, class... Rest>
struct observing_unseen<Context, types<B, Rest...>> : Context {
  void unseen(std::string_view callee, std::string_view caller) {
    static_cast<B&>(*this).unseen(callee, caller);
    (static_cast<Rest&>(*this).unseen(callee, caller), ...);
  }
};

template <class... C>
using extension_of = observing_unseen<
    observing_failed<
        observing_after<
            observing_before<
                overloads_of<
                    types<C...>, concatenated_t<keep<declares_rules<C>, C>...>,
                    concatenated_t<keep<declares_enter<C>, C>...>>,
                concatenated_t<keep<declares_before<C>, C>...>>,
            concatenated_t<keep<declares_after<C>, C>...>>,
        concatenated_t<keep<declares_failed<C>, C>...>>,
    concatenated_t<keep<declares_unseen<C>(), C>...>>;

template <class B>
struct as_context : B, context {};
template <class B>
consteval bool extendable() {
  constexpr bool known = is_context<B>;
  static_assert(known, "overdub: extends<...> takes contexts; derive its arguments from overdub::context");
  return known;
}
template <class B>
using extended_t = std::conditional_t<extendable<B>(), B, as_context<B>>;

} // namespace detail

/// A context with the rules of all bases, as one overload set, and with the hooks of all bases. A call runs the hooks of each base, in the
/// order of the bases; hooks with `raw` run after the others.
///
///   struct mine : overdub::extends<forward, count> {
///     using extends::overdub;  // without it, the next rule hides those of the bases
///     auto overdub(overdub::hypot_t, auto x, auto y);
///   };
///
/// `call.recurse` in a rule of a base runs the callee in the derived context, with all its rules and hooks.
template <class... Bases>
struct extends : detail::extension_of<detail::extended_t<Bases>...> {
  using overdub_bases = types<detail::extended_t<Bases>...>;
};

} // namespace overdub
