// forward: forward-mode differentiation along one direction, or along N at once (vector forward mode). Each number carries
// its tangent as metadata; the derivatives of operations are the last column of core/ops.def. Nested runs are distinguished
// by their tags, so that perturbations are not confused.
#pragma once

#include <overdub/call/named_functions.hpp>
#include <overdub/contexts/forward/tangents.hpp>
#include <overdub/overdub.hpp>
#include <overdub/stage/evaluated_in_library.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace overdub::contexts {

/// Forward-mode differentiation with N tangents: overdub::tag(x, tangents) in, overdub::tag(result, tangents) out.
template <int N>
struct forward_along : context {
  static constexpr std::string_view name = "forward";

  template <class T>
  using metadata = std::conditional_t<
      !std::floating_point<plain_t<T>>, zero, std::conditional_t<N == 1, T, tangents<T, N>>>;

  // In arrays of numbers, the N tangents of an element are adjacent; in arrays of values, each direction has an array.
  template <class A>
  requires(N > 1 && std::floating_point<plain_t<element_t<A>>>) using array_metadata =
      std::conditional_t<in_context<A>, tangents<A, N>, array<metadata<element_t<A>>>>;

  constexpr zero constant(auto const&) const { return {}; }

  // Every element-wise operation, by its row of the table. Results that are not floating-point numbers have no tangent.
  template <elementwise F, class... X>
  OVERDUB_INLINE constexpr auto overdub(F f, X const&... x) {
    auto r = f(x.inner...);
    constexpr bool changes = !(std::same_as<decltype(x.metadata), zero> && ...);
    if constexpr (!changes || !std::floating_point<plain_t<decltype(r)>>)
      return overdub::tag(r, zero{});
    else
      return overdub::tag(r, in_precision_of<plain_t<decltype(r)>>(f.tangent(r, x.inner..., x.metadata...)));
  }
  template <class To, class X>
  OVERDUB_INLINE constexpr auto overdub(convert_t<To> f, X x) {
    auto r = f(x.inner);
    if constexpr (!std::floating_point<To>)
      return overdub::tag(r, zero{});
    else
      return overdub::tag(r, in_precision_of<plain_t<decltype(r)>>(x.metadata));
  }

  // A sum is linear: its tangent is the sum of tangents.
  template <class F, class... X>
  requires(
      is_lowered<F, add_t> && !(std::same_as<decltype(X::metadata), zero> || ...) &&
      (N == 1 || (is_tangents<decltype(X::metadata)> && ...))) //
      constexpr auto overdub(reduce_t f, F const&, X const&... x) {
    auto const along = [&](auto const&... dx) { return f(add, dx...); };
    if constexpr (N == 1)
      return overdub::tag(f(add, x.inner...), along(x.metadata...));
    else
      return overdub::tag(f(add, x.inner...), along_each<N>(along, x.metadata...));
  }

  // In an array, the tangents of an element are adjacent.
  template <class Count, class X>
  requires(N > 1) constexpr auto overdub(fill_t, Count const& count, X const& x) {
    return filled(detail::take_inner{}(count), x);
  }

  // A native function has no derivative here, unless its arguments are inactive.
  template <rule_call Call, primitive F, class... X>
  requires(!elementwise<F> && !data_movement<F> && !control<F>) constexpr auto overdub(
      Call const& call, F, X... x) {
    auto result = call.fallback(x...);
    constexpr bool is_constant = !(varies<X>() || ...) || !varies<decltype(result)>();
    if constexpr (detail::native_with_symbol<F>) {
      if constexpr (!is_constant)
        throw rejected_program(message(
            "overdub: forward cannot differentiate the native function \"%.*s\"; extend the context with a "
            "rule for it: auto overdub(decltype(f), auto x) { return overdub::tag(f(x.inner), derivative * "
            "x.metadata); }",
            static_cast<int>(F::name().size()), F::name().data()));
    } else
      static_assert(
          is_constant,
          "overdub: forward cannot differentiate this native function; extend the context with a rule for "
          "it: auto overdub(decltype(f), auto x) { return overdub::tag(f(x.inner), derivative * x.metadata); "
          "}");
    return result;
  }

  // A function with a derivative rule is not traced.
  template <rule_call Call, function F, class... X>
  requires(
      detail::says_derivative<F> &&
      (!detail::derivative_of<F>::is_rule ||
       detail::takes_as_written<F>)) constexpr auto overdub(Call const& call, F const&, X const&... x) {
    auto const result = call.fallback(x...);
    if constexpr (detail::derivative_of<F>::is_constant || !(changes<X>() || ...))
      return with_tangents(result, zero{});
    else if constexpr (detail::derivative_of<F>::is_rule) {
      using Tangent = typename detail::derivative_of<F>::tangent;
      auto const along = [&](auto direction) {
        constexpr int number = decltype(direction)::value;
        return unless_constant(
            call(Tangent{}, result, detail::take_inner{}(x)..., along_direction<number>(x)...),
            along_direction<number>(x)...);
      };
      return [&]<int... I>(std::integer_sequence<int, I...>) {
        return with_tangents(result, along(std::integral_constant<int, I>{})...);
      }
      (std::make_integer_sequence<int, N>{});
    } else {
      constexpr bool is_differentiable = detail::derivative_of<F>::is_constant;
      static_assert(
          is_differentiable,
          "overdub: this function is marked as not differentiable, for the reason that its type says, and is "
          "given something that changes; give it constants, or a derivative_rule");
      return detail::refused{};
    }
  }

  static constexpr int directions = N; // metadata are N tangents
  static constexpr bool evaluates_programs = N == 1;

private:
  // The tangent in one direction of a value with this metadata, as a value of the differentiable type.
  template <int Direction, class M>
  static constexpr auto component(M const& tangent) {
    if constexpr (is_tangents<M>)
      return tangent[Direction];
    else if constexpr (N > 1 && detail::is_array<M>)
      return map([](auto const& t) { return component<Direction>(t); }, tangent);
    else
      return tangent;
  }
  // The metadata of a value with these tangents, one for each direction.
  template <class T, class... D>
  static constexpr metadata_t<forward_along, T> joined(D const&... tangent) {
    using M = metadata_t<forward_along, T>;
    if constexpr (N == 1)
      return (tangent, ...);
    else if constexpr (is_tangents<M>)
      return M(tangent...);
    else {
      using E = typename M::value_type;
      i64 size = std::numeric_limits<i64>::max();
      for (i64 const each : {tangent.size()...}) size = each < size ? each : size;
      std::vector<E> elements;
      elements.reserve(static_cast<std::size_t>(size));
      for (i64 i = 0; i < size; ++i) elements.push_back(E(tangent[i]...));
      return M::copy_of(elements);
    }
  }
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
  // A leaf of a rule's argument; metadata of an outer context form a tree of two.
  template <class X>
  static consteval bool is_own() {
    if constexpr (detail::is_tagged<X>)
      return detail::is_leaf<std::remove_cvref_t<decltype(X::inner)>>;
    else
      return false;
  }

  template <class X>
  static consteval bool changes() {
    if constexpr (is_own<X>())
      return !std::same_as<std::remove_cvref_t<decltype(X::metadata)>, zero> &&
             varies<decltype(X::metadata)>();
    else if constexpr (detail::tree<X>)
      return any_changes(static_cast<typename tree_traits<X>::children*>(nullptr));
    else
      return false;
  }
  template <class... X>
  static consteval bool any_changes(std::tuple<X...>*) {
    return (changes<std::remove_cvref_t<X>>() || ...);
  }
  template <class T>
  static consteval bool is_number_or_array() {
    constexpr bool is = !detail::plain_described<plain_t<T>>;
    static_assert(
        is, "overdub: a function with a derivative_rule takes and gives numbers, arrays, and trees of them; "
            "give it the members of "
            "this struct, or make the struct a template over its number");
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
      else if constexpr (std::same_as<M, zero> || std::same_as<metadata_t<forward_along, T>, zero>)
        return detail::no_tangent{}(x.inner);
      else
        return component<Direction>(x.metadata);
    } else if constexpr (detail::tree<X>)
      return tree_traits<X>::map([](auto const& child) { return along_direction<Direction>(child); }, x);
    else
      return zero{};
  }
  // The tangents that a rule returned; zero if no argument has one (all are numbers), since a rule need not be finite at
  // constants.
  template <class D, class... T>
  static constexpr auto unless_constant(D const& d, T const&... tangents) {
    if constexpr ((is_number_or_zero<T>() && ...))
      return nonzero_by(d, tangents...);
    else
      return d;
  }
  template <class T>
  static consteval bool is_number_or_zero() {
    return std::same_as<T, zero> || (detail::is_leaf<T> && std::floating_point<plain_t<T>>);
  }
  template <class D, class... T>
  static constexpr auto nonzero_by(D const& d, T const&... tangents) {
    if constexpr (detail::is_leaf<D>) {
      if constexpr (std::floating_point<plain_t<D>>)
        return selected(d, tangents...);
      else
        return d;
    } else if constexpr (detail::tree<D>)
      return tree_traits<D>::map([&](auto const& child) { return nonzero_by(child, tangents...); }, d);
    else
      return d;
  }
  template <class D>
  static constexpr auto selected(D const&) {
    return plain_t<D>{};
  }
  template <class D, class T, class... More>
  static constexpr auto selected(D const& d, T const& tangent, More const&... more) {
    if constexpr (std::same_as<T, zero>)
      return selected(d, more...);
    else
      return select(tangent != plain_t<T>{}, d, selected(d, more...));
  }
  // A result with its tangents, one for each direction; `zero` stands for a tree of zeros.
  template <class R, class... D>
  static constexpr auto with_tangents(R const& r, D const&... d) {
    if constexpr (detail::is_leaf<R>) {
      if constexpr (!is_number_or_array<R>())
        return detail::refused{};
      else if constexpr (std::same_as<metadata_t<forward_along, R>, zero>)
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
    using M = metadata_t<forward_along, R>;
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

  // Whether X has differentiable numbers: itself, in an array, a tree or a struct, or as metadata.
  template <class X>
  static consteval bool varies() {
    using P = plain_t<X>;
    if constexpr (detail::is_refused<std::remove_cv_t<X>>)
      return false;
    else if constexpr (requires(X x) { x.inner, x.metadata; })
      return varies<decltype(X::metadata)>();
    else if constexpr (requires { requires std::same_as<P, array<typename P::value_type>>; })
      return varies<typename P::value_type>();
    else if constexpr (requires { typename tree_traits<P>::children; })
      return any_varies(static_cast<typename tree_traits<P>::children*>(nullptr));
    else
      return std::floating_point<P> || is_tangents<P> || (std::is_class_v<P> && is_carried<P>);
  }
  template <class... X>
  static consteval bool any_varies(std::tuple<X...>*) {
    return (varies<X>() || ...);
  }

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
};

/// Forward-mode differentiation with one tangent.
using forward = forward_along<1>;

} // namespace overdub::contexts

namespace overdub::detail {
using forward_alone = stack<level<contexts::forward, void>>;
using forward_of_symbols = stack<level<contexts::forward, void>, level<staging, void>>;
template <>
inline constexpr bool evaluated_in_library<forward_alone> = true;
template <>
inline constexpr bool evaluated_in_library<forward_of_symbols> = true;
} // namespace overdub::detail
