// derivative_rule(f, tangent): a function with a user-defined derivative. Forward and reverse mode use it, in direct runs, during staging,
// and in programs.
#pragma once

#include <overdub/array/primitives.hpp>
#include <overdub/call/derived.hpp>
#include <overdub/call/fn.hpp>
#include <overdub/control/map.hpp>
#include <overdub/control/reduce.hpp>

#include <concepts>
#include <cstddef>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace overdub {
namespace detail {

// The type of a tree without contexts.
template <class X>
using plain_tree_t = std::remove_cvref_t<decltype(make_concrete{}(std::declval<X const&>()))>;

// ---- the declared derivative of a function

template <class Tangent, class Cotangent>
struct by_rule {
  static constexpr bool is_rule = true, is_constant = false;
  using tangent = Tangent;
  using cotangent = Cotangent; // none: the transpose of the tangent rule is used
};
struct by_constant {
  static constexpr bool is_rule = false, is_constant = true;
};
template <fixed_string Why>
struct by_refusal {
  static constexpr bool is_rule = false, is_constant = false;
  static constexpr std::string_view why = Why.view();
};

template <class F>
concept says_derivative = function<F> && requires {
  typename origin_t<F>::derivative;
};
template <class F>
using derivative_of = typename origin_t<F>::derivative;

// Whether a derived function has the parameters of the user's function: its contexts have no metadata.
template <class F>
inline constexpr bool takes_as_written = true;
template <class S, class F>
inline constexpr bool takes_as_written<derived<S, F>> =
    !carries_metadata<typename S::context> && takes_as_written<F>;

} // namespace detail

/// A function with a declared derivative: see derivative_rule, cotangent_rule, stop_gradient, not_differentiable. It has the name and the
/// body of the original function. In contexts it returns the same values, with their metadata.
template <fixed_string Name, class Body, class Derivative>
struct ruled_fn {
  using overdub_callee = kind::function;
  using derivative = Derivative;
  static constexpr int depth = 0;
  static constexpr std::string_view name() { return Name.view(); }

  [[no_unique_address]] Body body;

  template <class... A>
  OVERDUB_INLINE constexpr auto operator()(A&&... a) const
      -> detail::result_t<detail::outermost_t<A...>, ruled_fn, A...> {
    return detail::dispatch(*this, std::forward<A>(a)...);
  }

  // The result type in contexts is derived from that on numbers, so that a body without a derivative is not instantiated there.
  template <class S, class... X>
  struct called_in {
    using type = detail::wrap_t<S, typename called_in<stack<>, detail::plain_tree_t<X>...>::type>;
  };
  template <class... X>
  struct called_in<stack<>, X...> {
    using type = typename detail::body_call<ruled_fn, Body, detail::running<stack<>, ruled_fn>, X...>::type;
  };
  template <class S, class... X>
  using body_type = typename called_in<S, X...>::type;
  template <class S, class... X>
  static consteval bool declares_type() {
    return true;
  }
  template <class S, class... X>
  OVERDUB_INLINE constexpr body_type<S, std::remove_cvref_t<X>...> run(S const& stack, X&&... x) const {
    return detail::wrap(stack, detail::run_body(stack, *this, std::forward<X>(x)...));
  }
};

namespace detail {

template <fixed_string Name, class Body>
consteval auto name_of_fn(fn_t<Name, Body> const*) {
  return Name;
}

template <class F>
inline constexpr bool is_fn = false;
template <fixed_string Name, class Body>
inline constexpr bool is_fn<fn_t<Name, Body>> = true;

template <class F, class... Rule>
consteval bool can_have_rule() {
  constexpr bool is_function = is_fn<F>;
  static_assert(
      is_function, "overdub: a derivative belongs to a function of its own name; write it around "
                   "fn<\"name\">(body), and call "
                   "a native function in the body");
  constexpr bool captures_nothing = (std::is_empty_v<Rule> && ...);
  static_assert(
      captures_nothing, "overdub: a rule for a derivative captures nothing; it receives the function's "
                        "arguments and its result");
  return is_function && captures_nothing;
}

template <class Derivative, fixed_string Name, class Body>
constexpr auto saying(fn_t<Name, Body> f) {
  return ruled_fn<Name, Body, Derivative>{std::move(f.body)};
}

// ---- trees of numbers, and tangents of them

// The tangent of an inactive number, as a rule receives it; that of an integer is `zero`.
struct no_tangent {
  template <class X>
  constexpr auto operator()(X const& x) const {
    if constexpr (std::floating_point<plain_t<X>>)
      return plain_t<X>{};
    else if constexpr (is_array<plain_t<X>>) {
      if constexpr (std::floating_point<typename plain_t<X>::value_type>)
        return fill(size(x), typename plain_t<X>::value_type{});
      else
        return zero{};
    } else if constexpr (tree<X>)
      return tree_traits<X>::map(*this, x);
    else
      return zero{};
  }
};

template <class X>
concept has_elements = requires {
  std::tuple_size<X>::value;
};
template <std::size_t I, class X>
constexpr auto const& child_of(X const& x) {
  if constexpr (has_elements<X>)
    return std::get<I>(x);
  else
    return tree_traits<X>::template child<I>(x);
}
template <class X>
consteval std::size_t count_of_children() {
  if constexpr (has_elements<X>)
    return std::tuple_size_v<X>;
  else
    return std::tuple_size_v<typename tree_traits<X>::children>;
}

// The inner product of the differentiable leaves of two trees of one shape.
template <class A, class B>
constexpr auto inner_product(A const& a, B const& b) {
  if constexpr (std::same_as<A, zero> || std::same_as<B, zero>)
    return zero{};
  else if constexpr (std::floating_point<plain_t<A>>)
    return a * b;
  else if constexpr (is_array<plain_t<A>>) {
    if constexpr (is_array<typename plain_t<A>::value_type>)
      return sum(map([](auto const& x, auto const& y) { return inner_product(x, y); }, a, b));
    else
      return dot(a, b);
  } else if constexpr (tree<A>)
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return (zero{} + ... + inner_product(child_of<I>(a), child_of<I>(b)));
    }
  (std::make_index_sequence<count_of_children<A>()>{});
  else return zero{};
}

// The tangent rule that follows from a cotangent rule: the tangent of a number of the result is the inner product of the arguments'
// tangents with the cotangents for a unit cotangent of that number. It runs the cotangent rule once for each number of the result.
template <class Cotangent>
struct tangent_by_cotangent {
  template <class Scope, class R, class... X>
  requires scope<Scope>
  constexpr auto operator()(Scope& cx, R const& result, X const&... x) const {
    return along(cx, result, std::tie(x...), std::make_index_sequence<sizeof...(X) / 2>{});
  }

private:
  template <class Scope, class R, class All, std::size_t... I>
  static constexpr auto along(Scope& cx, R const& result, All const& all, std::index_sequence<I...>) {
    auto const change = [&](int leaf, auto const& i) {
      int next = 0;
      auto const given_back = Cotangent{}(result, std::get<I>(all)..., unit(result, next, leaf, i));
      if constexpr (sizeof...(I) == 1)
        return inner_product(given_back, std::get<1>(all));
      else
        return (zero{} + ... + inner_product(std::get<I>(given_back), std::get<sizeof...(I) + I>(all)));
    };
    int leaf = 0;
    return changes(cx, result, leaf, change);
  }
  template <class Scope, class R, class Change>
  static constexpr auto changes(Scope& cx, R const& r, int& leaf, Change const& change) {
    using P = plain_t<R>;
    if constexpr (std::floating_point<P>)
      return change(leaf++, i64{});
    else if constexpr (is_array<P>) {
      int const here = leaf++;
      if constexpr (std::floating_point<typename P::value_type>)
        return cx(
            map, [&](auto const& i) { return change(here, i); }, cx(iota, size(r)));
      else {
        refuse_rows<typename P::value_type>();
        return zero{};
      }
    } else if constexpr (tree<R>)
      return tree_traits<R>::map([&](auto const& child) { return changes(cx, child, leaf, change); }, r);
    else
      return ++leaf, zero{};
  }
  template <class E>
  static constexpr void refuse_rows() {
    static_assert(
        !is_array<E>,
        "overdub: forward differentiates a function with a cotangent_rule number by number, and "
        "not yet one that returns arrays of arrays; give it a derivative_rule");
  }
  // A unit cotangent of the result: 1 for one number (the i-th element of an array), and 0 for the others.
  template <class R, class I>
  static constexpr auto unit(R const& r, int& leaf, int wanted, I const& i) {
    using P = plain_t<R>;
    if constexpr (std::floating_point<P>)
      return leaf++ == wanted ? P{1} : P{};
    else if constexpr (is_array<P>) {
      bool const is_wanted = leaf++ == wanted;
      if constexpr (std::floating_point<typename P::value_type>) {
        using E = typename P::value_type;
        auto const zeros = fill(size(r), E{});
        using Unit = decltype(update(zeros, i, E{1}));
        return is_wanted ? Unit(update(zeros, i, E{1})) : Unit(zeros);
      } else
        return zero{};
    } else if constexpr (tree<R>)
      return tree_traits<R>::map([&](auto const& child) { return unit(child, leaf, wanted, i); }, r);
    else
      return ++leaf, zero{};
  }
};

template <class F>
concept has_cotangent = says_derivative<F> && derivative_of<F>::is_rule &&
    !std::same_as<typename derivative_of<F>::cotangent, none>;

} // namespace detail

/// Returns f, a `fn`, with a rule for its derivative. tangent(r, x..., dx...) returns the tangent of the result r = f(x...) for tangents dx
/// of the arguments: a tree with the structure of r, linear in dx. The dx have the types of the x; that of an integer is `zero`.
///
///   inline constexpr auto root = derivative_rule(fn<"root">([](auto x) { return sqrt(x); }),
///                                                [](auto r, auto x, auto dx) { return dx / (2.0 * r); });
///
/// Forward mode calls the rule, and reverse mode transposes its program; neither differentiates f's body. Nested differentiation
/// differentiates the rule's body. The rule is a function with the name "root.tangent".
template <class F, class Tangent>
constexpr auto derivative_rule(F const& f, Tangent const&) {
  if constexpr (detail::can_have_rule<F, Tangent>()) {
    constexpr auto name = detail::joined_names<detail::name_of_fn(static_cast<F*>(nullptr)), ".tangent">();
    return detail::saying<detail::by_rule<fn_t<name, Tangent>, none>>(f);
  } else
    return detail::refused{};
}

/// Returns f, a `fn`, with a rule for reverse mode. cotangent(r, x..., c) returns the cotangents of the arguments for a cotangent c of the
/// result r = f(x...): a tuple with one for each argument, or the cotangent of the only argument. They have the types of the arguments, and
/// c has that of r; they are linear in c. Cotangents of integer arguments are ignored; the c of an integer is `zero`.
///
/// Reverse mode calls the rule. Forward mode runs it once for each number of f's result.
template <class F, class Cotangent>
constexpr auto cotangent_rule(F const& f, Cotangent const&) {
  if constexpr (detail::can_have_rule<F, Cotangent>()) {
    constexpr auto own = detail::name_of_fn(static_cast<F*>(nullptr));
    using back = fn_t<detail::joined_names<own, ".cotangent">(), Cotangent>;
    using along = fn_t<detail::joined_names<own, ".tangent">(), detail::tangent_by_cotangent<back>>;
    return detail::saying<detail::by_rule<along, back>>(f);
  } else
    return detail::refused{};
}

/// Returns f, a `fn`, whose result counts as a constant in both modes.
template <class F>
constexpr auto stop_gradient(F const& f) {
  if constexpr (detail::can_have_rule<F>())
    return detail::saying<detail::by_constant>(f);
  else
    return detail::refused{};
}

/// Returns f, a `fn`, which must not be differentiated: not_differentiable<"it draws a random number">(f). If one of its arguments is
/// active, forward mode does not compile, and the differentiation of a program throws differentiation_error, with the given reason.
template <fixed_string Why, class F>
constexpr auto not_differentiable(F const& f) {
  if constexpr (detail::can_have_rule<F>())
    return detail::saying<detail::by_refusal<Why>>(f);
  else
    return detail::refused{};
}

} // namespace overdub
