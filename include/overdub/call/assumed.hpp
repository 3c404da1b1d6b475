// Infers the context stack in which recurse(*this, f, x...) and fallback(*this, f, x...) continue, from the class in which the rule is
// written and from the contexts of the arguments. A static_assert rejects the rule if the dispatcher calls it in a different stack.
#pragma once

#include <overdub/call/callee.hpp>
#include <overdub/call/recorded_types.hpp>
#include <overdub/call/tree.hpp>
#include <overdub/call/types.hpp>

#include <type_traits>

namespace overdub::detail {

// The level whose metadata a rule's argument has; void if the argument has none.
template <class X>
struct taken_from {
  using type = void;
};
template <class T, class M, class L>
struct taken_from<tagged<T, M, L>> {
  using type = L;
};

// The first of the types that is not void.
template <class... T>
struct first_level {
  using type = void;
};
template <class... R>
struct first_level<void, R...> : first_level<R...> {};
template <class L, class... R>
struct first_level<L, R...> {
  using type = L;
};

// The level of a rule that is written in the class C, and has an argument with metadata of the level L.
template <class C, class L>
struct own_level {
  using type = level<C, void>;
};
// If a derived class D inherited the rule, the level is that of D.
template <class C, class D, class Run>
requires std::is_base_of_v<C, D>
struct own_level<C, level<D, Run>> {
  using type = level<D, Run>;
};

// The record of a call of `recurse` (`Inside`) or `fallback` with arguments X... in a rule of the class C, which inferred the stack S.
template <bool Inside, class C, class S, class... X>
struct assumption {};
// A rule of the context of S, or of a base of it, handled a call with arguments X....
template <class S, class... X>
struct answered {};

// Assumptions are recorded for each function (stateful metaprogramming), and compared with the dispatcher's stack after the instantiation
// of a rule. Only the diagnostic depends on them. O(assumptions for F).

// The result of comparing assumptions with the stack and the arguments of a call. An assumption of the context's own class shows that this
// class has a rule for the function, so that it does not inherit the rule of a base.
struct findings {
  bool is_own = false;       // the assumption is of the context's own class
  bool is_of_base = false;   // it is of a base class, and inferred a level of that base
  bool is_elsewhere = false; // it inferred other inner contexts
  constexpr bool differ() const { return is_elsewhere || (is_of_base && !is_own); }
};
template <class Answered, class Assumption>
inline constexpr findings finding{};
template <class S, class... X, bool Inside, class C, class Assumed, class... Y>
requires std::is_base_of_v<C, typename S::context>
inline constexpr findings finding<answered<S, X...>, assumption<Inside, C, Assumed, Y...>>{
    .is_own = Inside && std::is_same_v<C, typename S::context>,
    .is_of_base = Inside && !std::is_same_v<C, typename S::context> &&
                  std::is_same_v<typename first_level<typename taken_from<Y>::type...>::type, void>,
    .is_elsewhere = std::is_same_v<types<X...>, types<Y...>> &&
                    !std::is_same_v<typename Assumed::tail, typename S::tail>};

// The findings of all assumptions that are recorded for F. Query is a type that no earlier search for F had.
template <class Query, class F, class Answered, int N = 0>
consteval findings find_assumptions(findings found = {}) {
  if constexpr (!is_recorded<types<Query, Answered>, F, N>())
    return found;
  else {
    constexpr findings one = finding<Answered, decltype(recorded(recorded_slot<F, N>{}))>;
    return find_assumptions<Query, F, Answered, N + 1>(
        {found.is_own || one.is_own, found.is_of_base || one.is_of_base,
         found.is_elsewhere || one.is_elsewhere});
  }
}
template <bool Here>
consteval bool check_here() {
  static_assert(
      Here, "overdub: a rule that goes on by recurse(*this, f, x...) or fallback(*this, f, x...) does not "
            "know that its class "
            "is inherited, nor the contexts of a call without values; write auto overdub(overdub::rule_call "
            "auto call, callee f, "
            "auto... x) and call.recurse(x...) or call.fallback(x...)");
  return Here;
}

// A callee whose rule may continue in other functions: a function, which has a body, or an operation that accepts functions.
template <class F>
concept calls_functions = function<F> || control<F>;

template <class F, class Assumption>
consteval bool note_assumption() {
  if constexpr (calls_functions<F>)
    return record_type<F, Assumption>();
  else
    return true;
}
template <bool Inside, class C, class F, class... X>
struct assumed_stack {
  using level_type = typename own_level<C, typename first_level<typename taken_from<X>::type...>::type>::type;
  using stack_type = push_t<level_type, outermost_t<X...>>;
  // Computing the type records the assumption.
  using type = std::enable_if_t<note_assumption<F, assumption<Inside, C, stack_type, X...>>(), stack_type>;
};
/// The stack of recurse(context, f, x...), or, if not `Inside`, that of fallback(context, f, x...).
template <bool Inside, class C, class F, class... X>
using assumed_stack_t = typename assumed_stack<Inside, C, F, X...>::type;

// Checks the assumptions after the instantiation of a rule for F, called in S, that has no parameter `rule_call`.
template <class S, class F, class... X>
consteval bool goes_on_here() {
  if constexpr (calls_functions<F>) {
    using A = answered<S, X...>;
    return check_here<!find_assumptions<A, F, A>().differ()>();
  } else
    return true;
}

} // namespace overdub::detail
