// Stages a call of overdub(contexts, f, x...), and converts arguments and results between C++ and programs.
#pragma once

#include <overdub/compile/fingerprint.hpp>
#include <overdub/execute/run.hpp>
#include <overdub/stage/stage.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace overdub::detail {

// ---- contexts during staging

// Whether staging may read the data of a context: staging runs its rules, `enter` and `constant`.
template <class C>
inline constexpr bool decides_programs =
    !std::is_empty_v<C> && (declares_rules<C> || declares_enter<C> || carries_metadata<C>);

// The context object during staging. A context with rules is rebuilt from its fingerprint alone, so that the program cannot depend on other
// data. A context that only observes calls is used itself, since staging does not read its data.
template <class C>
struct staging_context {
  static constexpr bool is_rebuilt = decides_programs<C>;
  static constexpr bool can_be_rebuilt = !is_rebuilt || [] {
    if constexpr (has_fingerprint<C>)
      return std::is_constructible_v<C, fingerprint_t<C> const&>;
    else
      return false;
  }();
  // A function, so that one class has one message.
  static consteval bool is_allowed() {
    static_assert(
        can_be_rebuilt, "overdub: a context with data has a rule, enter or metadata, which may read the data "
                        "while the program "
                        "is made: all objects of the class would share one program; define fingerprint() in "
                        "the context, and a "
                        "constructor that takes its result");
    return can_be_rebuilt;
  }
  static decltype(auto) of(C& actual) {
    if constexpr (is_rebuilt && is_allowed())
      return C(actual.fingerprint());
    else
      return (actual);
  }
};

// ---- conversion of arguments and results

// Visits the leaves of a tree of plain values, in the order of the program's parameters.
template <class F>
struct leaf_visitor {
  F const& f;
  template <class X>
  int operator()(X const& x) const {
    if constexpr (plain_described<X>) // contexts see one value, programs one value for each member
      [&]<std::size_t... I>(std::index_sequence<I...>) { ((*this)(member<I>(x)), ...); }
    (std::make_index_sequence<member_count<X>>{});
    else if constexpr (is_scalar_leaf<X>) f(x);
    else if constexpr (tree<X>) each_child(*this, x);
    else static_assert(
        std::is_empty_v<X>,
        "overdub: a compiled function takes bool, i64, float, double, arrays, tuples and described "
        "structs of them");
    return 0;
  }
};
template <class F, class X>
void for_each_leaf(X const& x, F const& f) {
  leaf_visitor<F>{f}(x);
}

// The type of a parameter in a program for an argument of type A: i64 for all integers.
template <class A>
struct parameter_type {
  using type = A;
};
template <std::integral A>
requires(!std::is_same_v<A, bool>) struct parameter_type<A> {
  using type = i64;
};

// The result type of a compiled function whose body returns X during staging.
template <class X>
struct unstaged {
  using type = X;
};
template <class X>
requires is_value<X>
struct unstaged<X> {
  using type = bottom_t<X>;
};
template <class X>
requires(!is_value<X> && tree<X> && !plain_described<X>) struct unstaged<X> {
  struct strip_staging {
    template <class Child>
    auto operator()(Child const&) const {
      return same_child{}(std::type_identity<typename unstaged<Child>::type>{});
    }
  };
  using type = decltype(tree_traits<X>::map(strip_staging{}, std::declval<X const&>()));
};

// Builds a tree of results: f(type) reads each leaf.
template <class F>
struct leaf_reader {
  F const& f;
  template <class X>
  X operator()(std::type_identity<X>) const {
    if constexpr (plain_described<X>) {
      if constexpr (is_made_of_members<X>()) {
        X x{};
        [&]<std::size_t... I>(std::index_sequence<I...>) {
          ((member<I>(x) = (*this)(std::type_identity<std::remove_cvref_t<decltype(member<I>(x))>>{})), ...);
        }
        (std::make_index_sequence<member_count<X>>{});
        return x;
      } else
        return same_child{}(std::type_identity<X>{});
    } else if constexpr (is_scalar_leaf<X>)
      return f(std::type_identity<X>{});
    else if constexpr (tree<X>) {
      static_assert(
          generated_tree<X>,
          "overdub: the type of a result does not say how many values it holds, and cannot be compiled; "
          "return an overdub::array, or a std::array");
      return tree_traits<X>::generate(*this);
    } else
      return X{};
  }
};

// ---- the program

// Converts each leaf of a tree to a staged value. A tagged value remains tagged.
template <class S>
struct leafwise {
  S const& stack;
  template <class X>
  auto operator()(X const& x) const {
    if constexpr (tree<X> && !plain_described<X>)
      return tree_traits<X>::map(*this, x);
    else
      return wrap(stack, x);
  }
};

// Stages overdub(contexts, f, x...).
template <class F, class Contexts, class... A>
struct staged_call {
  using innermost = stack<level<staging, void>>;

  // Stages the body; returns a tree of staged values.
  template <class... C>
  static auto body(innermost const& below, F const& f, std::tuple<C&...> contexts, auto const&... x) {
    return overdub::detail::apply_to(
        [&](C&... c) {
          run_lifetime<C...> const run;
          auto const levels =
              make_run_stack<hiding_t<F, std::remove_cvref_t<decltype(x)>...>>(run.get(), below, c...);
          return leafwise<innermost>{below}(run_in<innermost>(levels, f, admit<innermost>(levels, x)...));
        },
        contexts);
  }
  template <class... C>
  static ir::program make(
      F const& f, std::tuple<C&...> contexts, std::vector<recorder::context_of_call> standing,
      ir::math_mode math) {
    recorder r;
    r.contexts = std::move(standing);
    r.program.math = math;
    staging context(r);
    innermost const below(context, stack<>{});
    return stager::run_body_of<F>(r, types<A...>{}, leafwise<innermost>{below}, [&](auto const&... x) {
      return body(below, f, contexts, x...);
    });
  }
};

} // namespace overdub::detail
