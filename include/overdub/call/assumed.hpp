// The stack that recurse(*this, f, x...) and fallback(*this, f, x...) go on in. They know the class that the rule is written in, and
// the contexts that their arguments travel in. Where the dispatcher knows that another stack runs, the rule is refused.
#pragma once

#include <overdub/call/callee.hpp>
#include <overdub/call/tree.hpp>
#include <overdub/call/types.hpp>

#include <type_traits>

namespace overdub::detail {

// The level that a rule's arguments were taken from.
template <class X>
struct taken_from {
  using type = void;
};
template <class T, class M, class L>
struct taken_from<tagged<T, M, L>> {
  using type = L;
};

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

template <class C, class L>
struct own_level {
  using type = level<C, void>;
};
// A rule may be inherited: the level knows the context that it runs for.
template <class C, class D, class Run>
requires std::is_base_of_v<C, D>
struct own_level<C, level<D, Run>> {
  using type = level<D, Run>;
};

// A rule of the class C went on in the stack S, with arguments X....
template <class C, class S, class... X>
struct assumption {};
// A rule of the context of S, or of a base, answered arguments X....
template <class S, class... X>
struct answered {};

// Both are remembered, by the function that they are of, and compared when the second of the two is instantiated: by a friend function
// for each number from 0 on, which is defined when there is something to remember. Nothing but a refusal depends on it.
#ifndef __clang__
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-template-friend"
#endif
template <class F, int N>
struct remembered {
  friend constexpr auto find_remembered(remembered);
};
#ifndef __clang__
#pragma GCC diagnostic pop
#endif
template <class F, int N, class A>
struct remember {
  friend constexpr auto find_remembered(remembered<F, N>) { return A{}; }
};

// Query makes each question another one, since compilers keep answers.
template <class Query, class F, int N>
consteval bool is_remembered() {
  return requires(remembered<F, N> r) { find_remembered(r); };
}

template <class F, class A, int N = 0>
consteval bool remember_it() {
  if constexpr (!is_remembered<A, F, N>())
    return sizeof(remember<F, N, A>) > 0;
  else if constexpr (std::is_same_v<decltype(find_remembered(remembered<F, N>{})), A>)
    return true;
  else
    return remember_it<F, A, N + 1>();
}

// What the two say of each other. A class that goes on in a function itself has a rule of its own for it.
struct findings {
  bool is_own = false;       // the class that runs went on itself
  bool is_of_base = false;   // a base of it did, as if the base were the class that runs
  bool is_elsewhere = false; // the contexts below are others
  constexpr bool differ() const { return is_elsewhere || (is_of_base && !is_own); }
};
template <class Answered, class Assumption>
inline constexpr findings finding{};
template <class S, class... X, class C, class Assumed, class... Y>
requires std::is_base_of_v<C, typename S::context>
inline constexpr findings finding<answered<S, X...>, assumption<C, Assumed, Y...>>{
    .is_own = std::is_same_v<C, typename S::context>,
    .is_of_base = !std::is_same_v<C, typename S::context> &&
                  std::is_same_v<typename first_level<typename taken_from<Y>::type...>::type, void>,
    .is_elsewhere = std::is_same_v<types<X...>, types<Y...>> &&
                    !std::is_same_v<typename Assumed::tail, typename S::tail>};

// Whether what is remembered of F says that Answered went on elsewhere.
template <class Query, class F, class Answered, int N = 0>
consteval findings find_assumptions(findings found = {}) {
  if constexpr (!is_remembered<types<Query, Answered>, F, N>())
    return found;
  else {
    constexpr findings one = finding<Answered, decltype(find_remembered(remembered<F, N>{}))>;
    return find_assumptions<Query, F, Answered, N + 1>(
        {found.is_own || one.is_own, found.is_of_base || one.is_of_base,
         found.is_elsewhere || one.is_elsewhere});
  }
}
// Whether an answer that is remembered of F went on elsewhere by A, which is new.
template <class F, class A, int N = 0>
consteval bool contradicts() {
  if constexpr (!is_remembered<types<A, void>, F, N>())
    return false;
  else {
    using Answered = decltype(find_remembered(remembered<F, N>{}));
    if constexpr (finding<Answered, A>.is_elsewhere)
      return true;
    else if constexpr (finding<Answered, A>.is_of_base)
      return find_assumptions<A, F, Answered>().differ() || contradicts<F, A, N + 1>();
    else
      return contradicts<F, A, N + 1>();
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

// Functions alone have bodies, and operations that take functions alone call some.
template <class F>
concept calls_functions = function<F> || control<F>;

template <class C, class F, class... X>
struct assumed_stack {
  using level_type = typename own_level<C, typename first_level<typename taken_from<X>::type...>::type>::type;
  using type = push_t<level_type, outermost_t<X...>>;
  static consteval bool check() {
    if constexpr (calls_functions<F>) {
      using A = assumption<C, type, X...>;
      if constexpr (remember_it<F, A>()) return check_here<!contradicts<F, A>()>();
    } else
      return true;
  }
  static constexpr bool is_right = check();
};
template <class C, class F, class... X>
using assumed_stack_t = typename std::enable_if<
    assumed_stack<C, F, X...>::is_right || true, assumed_stack<C, F, X...>>::type::type;

// Asked when a rule without the call was instantiated that answers F in S.
template <class S, class F, class... X>
consteval bool goes_on_here() {
  if constexpr (calls_functions<F>) {
    using A = answered<S, X...>;
    if constexpr (remember_it<F, A>()) return check_here<!find_assumptions<A, F, A>().differ()>();
  } else
    return true;
}

} // namespace overdub::detail
