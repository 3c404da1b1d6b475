// compose(a, b, ...): contexts as a type-level tuple, run as nested values. The first one intercepts the calls of the function; the next
// one intercepts the calls that the first one's rules, derived functions and fallbacks make.
#pragma once

#include <overdub/call/context.hpp>

#include <boost/hana/flatten.hpp>
#include <boost/hana/tuple.hpp>
#include <boost/hana/type.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>

namespace overdub {
namespace detail {

namespace hana = boost::hana;

template <class List, class T>
inline constexpr bool lists = false;
template <class... L, class T>
inline constexpr bool lists<types<L...>, T> = (std::is_base_of_v<L, T> || ...);

// The contracts of a composition, which A declares by `using must_precede = types<...>` and similar members.
template <class A, class B>
consteval bool declares_precedence() {
  if constexpr (requires { typename A::must_precede; })
    return lists<typename A::must_precede, B>;
  else
    return false;
}
template <class A, class B>
consteval bool declares_conflict() {
  if constexpr (requires { typename A::conflicts_with; })
    return lists<typename A::conflicts_with, B>;
  else
    return false;
}
template <class A, class B>
consteval bool declares_commuting() {
  if constexpr (requires { typename A::commutes_with; })
    return lists<typename A::commutes_with, B>;
  else
    return false;
}

// Checks the contracts of two contexts; Outer is before Inner in the composition.
template <class Outer, class Inner>
consteval bool keep_contract() {
  static_assert(
      !declares_precedence<Inner, Outer>(),
      "overdub: these contexts are composed in the wrong order: the second must come before the first; write "
      "compose(second, first)");
  static_assert(
      !declares_conflict<Outer, Inner>() && !declares_conflict<Inner, Outer>(),
      "overdub: these contexts conflict and cannot be composed; run one of them at a time");
  static_assert(
      !(declares_commuting<Outer, Inner>() && (declares_precedence<Outer, Inner>())),
      "overdub: a context declares that it commutes with another one and that it must precede it; keep one "
      "of the two");
  return true;
}

template <class First, class... Rest>
consteval bool contracts_with() {
  return (keep_contract<First, Rest>() && ...);
}
template <class... C>
struct contracts {
  static constexpr bool kept = true;
};
template <class First, class... Rest>
struct contracts<First, Rest...> {
  static constexpr bool kept = contracts_with<First, Rest...>() && contracts<Rest...>::kept;
};

} // namespace detail

/// Whether two contexts declare (one of them is enough) that their order in a composition does not matter.
template <class A, class B>
inline constexpr bool commutes_v = detail::declares_commuting<A, B>() || detail::declares_commuting<B, A>();

/// A reference to a context that the composition does not own.
template <class C>
struct borrowed {
  C* context;
};

namespace detail {
template <class Held>
struct held {
  using context = Held;
};
template <class C>
struct held<borrowed<C>> {
  using context = C;
};
template <class Held>
using held_context_t = typename held<Held>::context;

template <class C>
constexpr C& get_held(C& context) {
  return context;
}
template <class C>
constexpr C& get_held(borrowed<C>& reference) {
  return *reference.context;
}
} // namespace detail

/// Contexts to run in, outermost first: a Hana tuple of contexts that it owns and of borrowed ones.
template <class... Held>
struct composition {
  static_assert(detail::contracts<detail::held_context_t<Held>...>::kept);
  boost::hana::tuple<Held...> contexts;

  /// The types of the contexts, as a Hana tuple of types.
  static constexpr auto types() { return boost::hana::tuple_t<detail::held_context_t<Held>...>; }
};

namespace detail {

template <class X>
inline constexpr bool is_composition = false;
template <class... H>
inline constexpr bool is_composition<composition<H...>> = true;

// A context or a composition: the first argument of functions that run or stage a function in contexts.
template <class C>
concept contexts_to_run_in = is_context<C> || is_composition<std::remove_cvref_t<C>>;

template <class C>
consteval bool part_of_composition() {
  using X = std::remove_cvref_t<C>;
  constexpr bool known = is_context<X> || is_composition<X>;
  constexpr bool changeable = !std::is_const_v<std::remove_reference_t<C>> || is_composition<X>;
  static_assert(known, "overdub: this is no context; derive its class from overdub::context");
  static_assert(
      !std::is_final_v<X> || !known,
      "overdub: a context's class must not be final, since overdub derives from it");
  static_assert(
      changeable || !known,
      "overdub: a context to run in must not be const, since its rules and hooks may change it");
  if constexpr (std::is_final_v<X>)
    return false;
  else if constexpr (known && changeable && !is_composition<X>)
    return can_be_made<X>();
  else
    return known && changeable;
}

// Returns a context as a tuple of one, and a composition as the tuple of its contexts, so that compositions are flat.
template <class C>
constexpr auto as_tuple(C&& c) {
  if constexpr (!part_of_composition<C>())
    return hana::make_tuple();
  else if constexpr (is_composition<std::remove_cvref_t<C>>)
    return std::forward<C>(c).contexts;
  else if constexpr (std::is_lvalue_reference_v<C>)
    return hana::make_tuple(borrowed<std::remove_reference_t<C>>{&c});
  else
    return hana::make_tuple(std::forward<C>(c));
}
template <class... H>
constexpr composition<H...> as_composition(hana::tuple<H...> contexts) {
  return {std::move(contexts)};
}

} // namespace detail

/// Combines contexts, the outermost first. Composition is associative, and compose() is its identity. The result refers to lvalues, which
/// must outlive it, and owns rvalues, which are moved into it.
template <class... C>
constexpr auto compose(C&&... contexts) {
  return detail::as_composition(
      boost::hana::flatten(boost::hana::make_tuple(detail::as_tuple(std::forward<C>(contexts))...)));
}

} // namespace overdub
