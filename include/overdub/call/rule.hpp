// Selects a context's rule for a call: rules that name the callee take precedence over families. Diagnoses a rule that names the callee
// with another number of arguments.
#pragma once

#include <overdub/call/assumed.hpp>
#include <overdub/call/callee.hpp>
#include <overdub/call/lift.hpp>
#include <overdub/call/rule_call.hpp>

#include <type_traits>
#include <utility>

namespace overdub::detail {

// The stack in which rules are looked up: its head is the context. If no call is made, it is the context alone.
template <class C>
struct rule_stack {
  using type = stack<level<C, void>>;
};
template <class... L>
struct rule_stack<stack<L...>> {
  using type = stack<L...>;
};

// Whether C has a rule that names F and accepts these (opened) arguments. An initializer list converts to F, but no template parameter is
// deduced from it, so that it matches only rules that name F. Overload resolution does not prefer those on all compilers.
template <class C, class F, class... A>
concept takes_named = declares_rules<C> && requires(C& context, F const& f, A&&... a) {
  context.overdub({f}, std::forward<A>(a)...);
};
template <class C, class F, class... A>
concept takes_family = declares_rules<C> && requires(C& context, F const& f, A&&... a) {
  context.overdub(f, std::forward<A>(a)...);
};
// The same, of rules whose first parameter is the call.
template <class C, class Call, class F, class... A>
concept takes_named_call = declares_rules<C> && requires(C& context, Call const& call, F const& f, A&&... a) {
  context.overdub(call, {f}, std::forward<A>(a)...);
};
template <class C, class Call, class F, class... A>
concept takes_family_call = declares_rules<C> &&
    requires(C& context, Call const& call, F const& f, A&&... a) {
  context.overdub(call, f, std::forward<A>(a)...);
};

// A stand-in for an argument of any type.
struct anything {
  template <class T>
  operator T() const;
};

// C has a rule that names F with k arguments if a call becomes ambiguous when another rule is added, which is a better match for the
// function and a worse one for the arguments. Bodies are not instantiated.
template <class F>
struct like : F {};
struct nothing {};
template <class C, class F>
struct name_probe : C {
  using C::overdub;
  nothing overdub(like<F>, ...);
  nothing overdub(any_rule_call, like<F>, ...);
};
template <class C, class F, class... A>
inline constexpr bool named_at = !requires(name_probe<C, F> & probe, like<F> f, A... a) {
  probe.overdub({f}, a...);
}
|| !requires(name_probe<C, F> & probe, any_rule_call call, like<F> f, A... a) {
  probe.overdub(call, {f}, a...);
};

template <class C, class F>
consteval unsigned named_arities() {
  using x = anything;
  return 2u * named_at<C, F, x> + 4u * named_at<C, F, x, x> + 8u * named_at<C, F, x, x, x> +
         16u * named_at<C, F, x, x, x, x>;
}

// Instantiated if no rule of C that names F accepts the call.
template <class Context, class Callee, std::size_t Arguments>
consteval bool rule_arity() {
  if constexpr (Arguments == 0 || Arguments > 4)
    return true;
  else {
    constexpr unsigned arities = named_arities<Context, Callee>();
    constexpr bool here = (arities >> Arguments & 1u) != 0;
    static_assert(
        arities == 0 || here,
        "overdub: the context has a rule that names this function, but with another number of arguments; "
        "give "
        "the rule one parameter for the function and one for each argument of the call");
    static_assert(
        !here,
        "overdub: the context has a rule that names this function, but it does not take these arguments; "
        "write its parameters as auto, so that they accept values of inner contexts and tagged values, and "
        "constrain those of one type: std::same_as<overdub::max_t> auto");
    return arities == 0;
  }
}

// For functions of programs, the caller reports the error at run time.
template <class Context, class Callee, std::size_t Arguments>
consteval bool is_arity_right() {
  if constexpr (called_in_program<Callee>)
    return true;
  else
    return rule_arity<Context, Callee, Arguments>();
}

enum class rule { none, named, named_call, family, family_call };

// Whether a context's rules accept values with a dynamic type.
template <class C>
inline constexpr bool takes_untyped = symbolic<C> || answers_any_types<C>;

template <class S, class F, class... A>
consteval rule find_named_rule() {
  using C = typename S::context;
  if constexpr (!declares_rules<C> || (is_untyped<F> && !takes_untyped<C>))
    return rule::none;
  else if constexpr (takes_named<C, F, A...>)
    return rule::named;
  else if constexpr (takes_named_call<C, answering<S, F>, F, A...>)
    return rule::named_call;
  else
    return rule::none;
}
template <class S, class F, class... A>
inline constexpr rule named_rule = find_named_rule<S, F, A...>();
template <class S, class F, class... A>
concept names_rule = named_rule<S, F, A...>
!= rule::none;

template <class S, class F, class... A>
consteval rule find_rule() {
  using C = typename S::context;
  if constexpr (!declares_rules<C> || (is_untyped<F> && !takes_untyped<C>))
    return rule::none;
  else if constexpr (names_rule<S, F, A...>)
    return named_rule<S, F, A...>;
  else if constexpr (!is_arity_right<C, F, sizeof...(A)>())
    return rule::none;
  else if constexpr (takes_family<C, F, A...>)
    return rule::family;
  else if constexpr (takes_family_call<C, answering<S, F>, F, A...>)
    return rule::family_call;
  else
    return rule::none;
}
/// The kind of rule of the head of the stack S, or of the context S, for a call of F.
template <class S, class F, class... A>
inline constexpr rule rule_for = find_rule<typename rule_stack<S>::type, F, A...>();

template <rule Kind, class S, class F, class... A>
OVERDUB_INLINE constexpr decltype(auto) ask_rule(S const& stack, F const& f, A&&... a) {
  auto& context = stack.top().get();
#if OVERDUB_CHECKED
  [[maybe_unused]] begun_rule<keeps_lifetime<typename S::context>> const in_rule(stack.top());
#endif
  if constexpr (Kind == rule::named)
    return context.overdub({f}, std::forward<A>(a)...);
  else if constexpr (Kind == rule::named_call)
    return context.overdub(answering<S, F>(stack, f), {f}, std::forward<A>(a)...);
  else if constexpr (Kind == rule::family)
    return context.overdub(f, std::forward<A>(a)...);
  else
    return context.overdub(answering<S, F>(stack, f), f, std::forward<A>(a)...);
}

// A rule for a function without a result may return void; an operation always has a result.
template <rule Kind, class S, class F, class... A>
OVERDUB_INLINE constexpr decltype(auto) call_rule(S const& stack, F const& f, A&&... a) {
  if constexpr (!std::is_void_v<decltype(ask_rule<Kind>(stack, f, std::forward<A>(a)...))>) {
    if constexpr (
        Kind == rule::named_call || Kind == rule::family_call ||
        goes_on_here<S, F, std::remove_cvref_t<A>...>())
      return ask_rule<Kind>(stack, f, std::forward<A>(a)...);
    else
      return refused{};
  } else if constexpr (function<F> || native_leaf<F>) {
    ask_rule<Kind>(stack, f, std::forward<A>(a)...);
    return none{};
  } else {
    static_assert(
        function<F> || native_leaf<F>, "overdub: a rule for an operation returns its result, and not void");
    return refused{};
  }
}

} // namespace overdub::detail
