// What the rules of forward mode do with tangents: read those of arguments, and attach those of results. Values are trees of numbers and
// arrays, which the context has tagged.
#pragma once

#include <overdub/contexts/forward/tangents.hpp>
#include <overdub/overdub.hpp>

#include <concepts>
#include <tuple>
#include <type_traits>
#include <utility>

namespace overdub::contexts {

/// For the rules of a context C with N directions.
template <class C, int N>
struct tangent_rules {
  // Tangents converted to the precision of the value that they belong to.
  template <class To, class D>
  OVERDUB_INLINE static constexpr auto in_precision_of(D const& tangent) {
    if constexpr (std::same_as<D, zero>)
      return zero{};
    else if constexpr (is_tangents<D>)
      return along_each<N>([](auto const& d) OVERDUB_INLINE { return in_precision_of<To>(d); }, tangent);
    else if constexpr (std::same_as<plain_t<D>, To>)
      return tangent;
    else
      return convert<To>(tangent);
  }

  // Whether X has differentiable numbers: itself, in an array, a tree or a struct, or as metadata.
  template <class X>
  static consteval bool has_numbers() {
    using P = plain_t<X>;
    if constexpr (detail::is_refused<std::remove_cv_t<X>>)
      return false;
    else if constexpr (requires(X x) { x.inner, x.metadata; })
      return has_numbers<decltype(X::metadata)>();
    else if constexpr (requires { requires std::same_as<P, array<typename P::value_type>>; })
      return has_numbers<typename P::value_type>();
    else if constexpr (requires { typename tree_traits<P>::children; })
      return any_has_numbers(static_cast<typename tree_traits<P>::children*>(nullptr));
    else
      return std::floating_point<P> || is_tangents<P> || (std::is_class_v<P> && is_scalar_leaf<P>);
  }
  template <class... X>
  static consteval bool any_has_numbers(std::tuple<X...>*) {
    return (has_numbers<X>() || ...);
  }

  // fill(count, x), where each direction has an array of tangents.
  template <class Count, class X>
  static constexpr auto filled(Count const& count, X const& x) {
    if constexpr (is_own<X>()) {
      auto a = fill(count, x.inner);
      if constexpr (is_tangents<std::remove_cvref_t<decltype(x.metadata)>>) {
        auto const along = [&]<int... I>(std::integer_sequence<int, I...>) {
          return joined<decltype(a)>(fill(count, x.metadata[I])...);
        };
        return overdub::tag(a, along(std::make_integer_sequence<int, N>{}));
      } else
        return overdub::tag(a, fill(count, x.metadata));
    } else if constexpr (detail::tree<X>)
      return tree_traits<X>::map([&](auto const& child) { return filled(count, child); }, x);
    else
      return fill(count, x);
  }

  // The result of a function that declares its derivative (control/derivative_rule.hpp), with the tangents that its rule returns. The rule
  // is called once for each direction.
  template <class F, class Call, class R, class... X>
  static constexpr auto by_declared_derivative(Call const& call, R const& result, X const&... x) {
    if constexpr (detail::derivative_of<F>::is_constant || !(has_tangent<X>() || ...))
      return with_tangents(result, zero{});
    else if constexpr (detail::derivative_of<F>::is_rule) {
      using Tangent = typename detail::derivative_of<F>::tangent;
      auto const along = [&](auto direction) {
        constexpr int number = decltype(direction)::value;
        return strong_zero(
            call(Tangent{}, result, detail::take_inner{}(x)..., along_direction<number>(x)...),
            along_direction<number>(x)...);
      };
      return [&]<int... I>(std::integer_sequence<int, I...>) {
        return with_tangents(result, along(std::integral_constant<int, I>{})...);
      }
      (std::make_integer_sequence<int, N>{});
    } else {
      constexpr bool is_active = (has_tangent<X>() || ...);
      static_assert(
          !is_active,
          "overdub: this function is marked not_differentiable, for the reason that is part of its type, and "
          "an argument of this call is active; pass constants, or give the function a derivative_rule");
      return detail::refused{};
    }
  }

private:
  // The tangent in one direction, for the metadata of a value.
  template <int Direction, class M>
  static constexpr auto component(M const& tangent) {
    if constexpr (is_tangents<M>)
      return tangent[Direction];
    else if constexpr (N > 1 && detail::is_array<M>)
      return map([](auto const& t) { return component<Direction>(t); }, tangent);
    else
      return tangent;
  }
  // The metadata of a T, from its tangents, one for each direction. Throws size_error if arrays of tangents differ in size.
  template <class T, class... D>
  static constexpr metadata_t<C, T> joined(D const&... tangent) {
    using M = metadata_t<C, T>;
    if constexpr (N == 1)
      return std::get<0>(std::tie(tangent...));
    else if constexpr (is_tangents<M>)
      return M(tangent...);
    else {
      using E = typename M::value_type;
      i64 const size = detail::sizes_of("a derivative rule's tangents", tangent...);
      detail::array_builder<E> elements(size);
      for (i64 i = 0; i < size; ++i) elements.put(i, E(tangent[i]...));
      return elements.finish(size);
    }
  }
  // Whether X is a number or array that the context tagged. If an outer context has tagged the number, too, X is a pair of trees,
  // and this is false.
  template <class X>
  static consteval bool is_own() {
    if constexpr (detail::is_tagged<X>)
      return detail::is_leaf<std::remove_cvref_t<decltype(X::inner)>>;
    else
      return false;
  }

  // Whether an argument of a rule has a tangent other than `zero`.
  template <class X>
  static consteval bool has_tangent() {
    if constexpr (is_own<X>())
      return !std::same_as<std::remove_cvref_t<decltype(X::metadata)>, zero> &&
             has_numbers<decltype(X::metadata)>();
    else if constexpr (detail::tree<X>)
      return any_has_tangent(static_cast<typename tree_traits<X>::children*>(nullptr));
    else
      return false;
  }
  template <class... X>
  static consteval bool any_has_tangent(std::tuple<X...>*) {
    return (has_tangent<std::remove_cvref_t<X>>() || ...);
  }
  template <class T>
  static consteval bool is_number_or_array() {
    constexpr bool is = !detail::plain_described<plain_t<T>>;
    static_assert(
        is, "overdub: a function with a derivative_rule takes and returns numbers, arrays, and trees of them; "
            "give it the members of this struct, or make the struct a template over its number");
    return is;
  }
  // The tangents of an argument in one direction.
  template <int Direction, class X>
  static constexpr auto along_direction(X const& x) {
    if constexpr (is_own<X>()) {
      using T = std::remove_cvref_t<decltype(x.inner)>;
      using M = std::remove_cvref_t<decltype(x.metadata)>;
      if constexpr (!is_number_or_array<T>())
        return zero{};
      else if constexpr (std::same_as<M, zero> || std::same_as<metadata_t<C, T>, zero>)
        return detail::no_tangent{}(x.inner);
      else
        return component<Direction>(x.metadata);
    } else if constexpr (detail::tree<X>)
      return tree_traits<X>::map([](auto const& child) { return along_direction<Direction>(child); }, x);
    else
      return zero{};
  }
  // The tangents d that a rule returned; 0 if the tangents of all arguments are 0, where the rule may return infinity or NaN. If an
  // argument is an array, d unchanged.
  template <class D, class... T>
  static constexpr auto strong_zero(D const& d, T const&... tangents) {
    if constexpr ((is_number_or_zero<T>() && ...))
      return strong_zero_of_leaves(d, tangents...);
    else
      return d;
  }
  template <class T>
  static consteval bool is_number_or_zero() {
    return std::same_as<T, zero> || (detail::is_leaf<T> && std::floating_point<plain_t<T>>);
  }
  template <class D, class... T>
  static constexpr auto strong_zero_of_leaves(D const& d, T const&... tangents) {
    if constexpr (detail::is_leaf<D>) {
      if constexpr (std::floating_point<plain_t<D>>)
        return if_any_is_nonzero(d, tangents...);
      else
        return d;
    } else if constexpr (detail::tree<D>)
      return tree_traits<D>::map(
          [&](auto const& child) { return strong_zero_of_leaves(child, tangents...); }, d);
    else
      return d;
  }
  template <class D>
  static constexpr auto if_any_is_nonzero(D const&) {
    return plain_t<D>{};
  }
  template <class D, class T, class... More>
  static constexpr auto if_any_is_nonzero(D const& d, T const& tangent, More const&... more) {
    if constexpr (std::same_as<T, zero>)
      return if_any_is_nonzero(d, more...);
    else
      return select(tangent != plain_t<T>{}, d, if_any_is_nonzero(d, more...));
  }
  // A result with its tangents, one for each direction; `zero` stands for a tree of zeros.
  template <class R, class... D>
  static constexpr auto with_tangents(R const& r, D const&... d) {
    if constexpr (detail::is_leaf<R>) {
      if constexpr (!is_number_or_array<R>())
        return detail::refused{};
      else if constexpr (std::same_as<metadata_t<C, R>, zero>)
        return overdub::tag(r, zero{});
      else
        return overdub::tag(r, tangent_of(r, d...));
    } else if constexpr (!detail::tree<R>)
      return r;
    else if constexpr ((std::same_as<D, zero> && ...))
      return tree_traits<R>::map([](auto const& child) { return with_tangents(child, zero{}); }, r);
    else
      return tree_traits<R>::map([](auto const&... child) { return with_tangents(child...); }, r, d...);
  }
  template <class R, class... D>
  static constexpr auto tangent_of(R const& r, D const&... d) {
    using M = metadata_t<C, R>;
    auto const stack = detail::stack_from<detail::stack_of_t<R>>(r);
    auto const one = [&]<class T>(T const& tangent) {
      if constexpr (detail::is_array<plain_t<R>>) {
        if constexpr (std::same_as<T, zero>)
          return detail::wrap(stack, detail::no_tangent{}(r));
        else
          return detail::wrap(stack, tangent);
      } else if constexpr (std::same_as<T, zero>)
        return detail::wrap(stack, plain_t<R>{});
      else
        return detail::wrap(stack, in_precision_of<plain_t<R>>(tangent));
    };
    if constexpr (sizeof...(D) == N)
      return joined<R>(one(d)...);
    else
      return detail::become<M>(stack, zero{}, r);
  }
};

} // namespace overdub::contexts
