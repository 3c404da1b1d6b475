// reduce, sum, dot: reductions of arrays in a specified order, so that results are reproducible.
#pragma once

#include <overdub/array/primitives.hpp>
#include <overdub/call/lowered.hpp>
#include <overdub/call/ops.hpp>
#include <overdub/control/loop.hpp>
#include <overdub/control/map.hpp>

#include <string_view>
#include <type_traits>
#include <utility>

namespace overdub {
namespace detail {

// The user's function, without the layers that lowered it.
template <class F>
struct given {
  using type = F;
};
template <class S, class F, view V>
struct given<lowered<S, F, V>> : given<F> {};
template <class F>
using given_t = typename given<F>::type;

// Sums of floating-point numbers have eight interleaved lanes, which are added as ((0+4)+(2+6))+((1+5)+(3+7)), so that vectorisation
// preserves the order. Get(i) is the i-th element.
template <class E, class F, class Get>
OVERDUB_INLINE constexpr E reduce_lanes(F const& f, i64 n, Get const& get) {
  auto pair = [&](i64 a, i64 b, auto const& lane) -> E { return b < n ? E(f(lane(a), lane(b))) : lane(a); };
  if (n < 8) {
    auto odd = [&](i64 a) -> E { return pair(a, a + 4, get); };
    auto half = [&](i64 a) -> E {
      E first = odd(a);
      return a + 2 < n ? E(f(std::move(first), odd(a + 2))) : first;
    };
    E first = half(0);
    return n > 1 ? E(f(std::move(first), half(1))) : first;
  }
  E lane[8] = {get(0), get(1), get(2), get(3), get(4), get(5), get(6), get(7)};
  i64 i = 8;
  for (; i + 8 <= n; i += 8) {
#pragma GCC unroll 8
    for (i64 j = 0; j < 8; ++j) lane[j] = f(lane[j], get(i + j));
  }
  for (i64 j = 0; i + j < n; ++j) lane[j] = f(lane[j], get(i + j));
  // Evaluates the left operand first, since contexts observe the order.
  auto const half_of = [&](int j) -> E {
    E first = f(lane[j], lane[j + 4]), second = f(lane[j + 2], lane[j + 6]);
    return f(std::move(first), std::move(second));
  };
  E even = half_of(0), odd = half_of(1);
  return f(std::move(even), std::move(odd));
}

// Every other reduction is a balanced tree over the indices, whose left part is the largest power of two below n. The left part is reduced
// first, since contexts may observe f.
template <class E, class F, class Get>
constexpr E reduce_tree(F const& f, i64 first, i64 n, Get const& get) {
  auto const two = [&](i64 i) -> E { return f(get(i), get(i + 1)); };
  auto const four = [&](i64 i) -> E {
    E left = two(i), right = two(i + 2);
    return f(std::move(left), std::move(right));
  };
  switch (n) {
  case 1:
    return get(first);
  case 2:
    return two(first);
  case 3:
    return f(two(first), get(first + 2));
  case 4:
    return four(first);
  default:
    break;
  }
  if (n == 16) {
    auto const eight = [&](i64 i) -> E {
      E left = four(i), right = four(i + 4);
      return f(std::move(left), std::move(right));
    };
    E left = eight(first), right = eight(first + 8);
    return f(std::move(left), std::move(right));
  }
  i64 half = 4;
  while (2 * half < n) half *= 2;
  E left = reduce_tree<E>(f, first, half, get), right = reduce_tree<E>(f, first + half, n - half, get);
  return f(std::move(left), std::move(right));
}

// Whether F reduces elements of all types in lanes.
template <class F>
inline constexpr bool combines_in_lanes = false;
// Whether f reduces elements of type E in lanes; otherwise in a tree.
template <class E, class F>
inline constexpr bool in_lanes = combines_in_lanes<given_t<F>> || (std::is_same_v<given_t<F>, add_t> &&
                                                                   std::is_floating_point_v<concrete_t<E>>);

template <class E, class F, class Get>
OVERDUB_INLINE constexpr E reduce_elements(F const& f, i64 n, Get const& get) {
  if constexpr (in_lanes<E, F>)
    return reduce_lanes<E>(f, n, get);
  else
    return reduce_tree<E>(f, 0, n, get);
}

// The element type of an array in the contexts of S.
template <class S, class A>
struct element_in {
  using type = none;
};
template <class S, array_inside A>
struct element_in<S, A> {
  using type = wrap_t<S, typename bottom_t<A>::value_type>;
};
template <class S, class A>
using element_in_t = typename element_in<S, A>::type;

// Whether the outermost context of S intercepts no call of F on the elements of the array (the last of X), so that the reduction is not
// decomposed.
template <class S, class F, class... X>
consteval bool keeps_reduction() {
  if constexpr (!elementwise<F>)
    return false;
  else {
    using E = element_in_t<S, std::tuple_element_t<sizeof...(X) - 1, std::tuple<X...>>>;
    if constexpr (
        std::is_same_v<E, none> || symbolic<typename S::context> || carries_metadata<typename S::context>)
      return false;
    else
      return !intercepts<S, F, E, E, E>();
  }
}

template <class Element, class Result>
consteval bool combines() {
  constexpr bool same = std::is_same_v<Element, Result>;
  static_assert(
      same || is_refused<Result>,
      "overdub: the function given to reduce returns another type than the array's elements; convert its "
      "result, or make the elements what it returns: reduce(f, map(g, xs))");
  return same;
}
template <class Element, class Initial>
consteval bool initial_element() {
  constexpr bool same = std::is_same_v<Element, Initial>;
  static_assert(
      same || is_refused<Initial>,
      "overdub: the initial value of reduce has another type than the array's elements; write "
      "overdub::convert<T>(x), or 0.0 for 0; one that is a value of a context goes through the scope: "
      "cx(reduce, f, initial, xs)");
  return same;
}

} // namespace detail

/// reduce(f, xs), reduce(f, initial, xs): the reduction of the elements by f, with the initial value as the first operand. Sums of
/// floating-point numbers (f is overdub::add) have eight interleaved lanes, other reductions a balanced tree. For an empty array, returns
/// the initial value or throws size_error. O(n), no allocation.
struct reduce_t {
  OVERDUB_PRIMITIVE("reduce", control)
  template <class F, class... X>
  OVERDUB_INLINE constexpr auto operator()(F const& f, X const&... x) const {
    return detail::dispatch(*this, f, x...);
  }
  template <class S, class K, class F, class... X>
  OVERDUB_INLINE static constexpr auto
  lower(S const& stack, K const& call_lowered, F const& f, X const&... x) {
    if constexpr (detail::keeps_reduction<S, F, X...>())
      return call_lowered(f, detail::lift_down(stack, x)...);
    else
      return call_lowered(detail::lower(stack, f), detail::lift_down(stack, x)...);
  }
  template <class F, class A>
  OVERDUB_INLINE static constexpr auto compute(F const& f, A const& xs) {
    if constexpr (detail::trees_of_arrays<A>()) {
      using E = decltype(detail::element(xs, 0));
      i64 const n = detail::sizes_of("reduce", xs);
      if (n <= 0) detail::throw_empty("reduce");
      return combine<E>(f, n, xs);
    } else
      return detail::refused{};
  }
  template <class F, class X, class A>
  OVERDUB_INLINE static constexpr X compute(F const& f, X const& initial, A const& xs) {
    if constexpr (!detail::trees_of_arrays<A>())
      return initial;
    else {
      using E = decltype(detail::element(xs, 0));
      i64 const n = detail::sizes_of("reduce", xs);
      if constexpr (detail::initial_element<E, X>())
        return n <= 0 ? initial : E(f(initial, combine<E>(f, n, xs)));
      else
        return initial;
    }
  }

private:
  template <class E, class F, class A>
  OVERDUB_INLINE static constexpr E combine(F const& f, i64 n, A const& xs) {
    if constexpr (detail::combines<
                      E, std::remove_cvref_t<decltype(f(std::declval<E>(), std::declval<E>()))>>())
      return detail::reduce_elements<E>(f, n, [&](i64 i) OVERDUB_INLINE { return detail::element(xs, i); });
    else
      return detail::element(xs, 0);
  }
};
inline constexpr reduce_t reduce{};

namespace detail {

// Whether the outermost context of S intercepts reduce(add, 0, an array of T), or an addition in it.
template <class S, class T>
consteval bool intercepts_sum() {
  using R = decltype(add(T{}, T{}));
  using E = wrap_t<S, R>;
  return intercepts<S, add_t, E, E, E>() || intercepts<S, reduce_t, E, add_t, R, wrap_t<S, array<R>>>();
}

} // namespace detail

/// sum(xs) is reduce(add, 0, xs), where bool and short integers are promoted to int: contexts intercept this reduction and its additions,
/// and no `sum`. 0 for an empty array. O(n), no allocation if no context intercepts it.
struct sum_t {
  OVERDUB_PRIMITIVE("sum", data)
  static constexpr bool is_shorthand = true;

  template <class A>
  OVERDUB_INLINE constexpr auto operator()(A const& xs) const {
    return detail::dispatch(*this, xs);
  }
  template <class A>
  OVERDUB_INLINE static constexpr auto decompose(A const& xs) {
    if constexpr (!detail::array_inside<A>)
      return compute(xs);
    else {
      using T = typename detail::bottom_t<A>::value_type;
      using R = decltype(add(T{}, T{}));
      if constexpr (std::is_same_v<T, R>)
        return reduce(add, T{}, xs);
      else
        return reduce(add, R{}, map(convert<R>, xs));
    }
  }
  template <class S, class A>
  static consteval bool intercepted() {
    if constexpr (!detail::array_inside<A>)
      return false;
    else {
      using T = typename detail::bottom_t<A>::value_type;
      using R = decltype(add(T{}, T{}));
      if constexpr (detail::intercepts_sum<S, T>() || std::is_same_v<T, R>)
        return detail::intercepts_sum<S, T>();
      else
        return detail::intercepts<S, convert_t<R>, detail::wrap_t<S, R>, detail::wrap_t<S, T>>() ||
               detail::intercepts<
                   S, map_t, detail::wrap_t<S, array<R>>, convert_t<R>, detail::wrap_t<S, array<T>>>();
    }
  }
  template <class A>
  OVERDUB_INLINE static constexpr auto compute(A const& xs) {
    if constexpr (detail::one_array<A>()) {
      using R = decltype(add(typename A::value_type{}, typename A::value_type{}));
      if (xs.empty()) return R{};
      return add(R{}, detail::reduce_elements<R>(add, xs.size(), [&](i64 i) OVERDUB_INLINE {
                   return static_cast<R>(xs.data()[i]);
                 }));
    } else
      return detail::refused{};
  }
};
inline constexpr sum_t sum{};

/// dot(xs, ys) is sum(map(mul, xs, ys)): contexts intercept this map and this sum. Throws size_error. O(n), no allocation if no context
/// intercepts it.
struct dot_t {
  OVERDUB_PRIMITIVE("dot", data)
  static constexpr bool is_shorthand = true;

  template <class A, class B>
  OVERDUB_INLINE constexpr auto operator()(A const& xs, B const& ys) const {
    return detail::dispatch(*this, xs, ys);
  }
  template <class A, class B>
  OVERDUB_INLINE static constexpr auto decompose(A const& xs, B const& ys) {
    if constexpr (detail::array_inside<A> && detail::array_inside<B>)
      return sum(map(mul, xs, ys));
    else
      return compute(xs, ys);
  }
  template <class S, class A, class B>
  static consteval bool intercepted() {
    if constexpr (!detail::array_inside<A> || !detail::array_inside<B>)
      return false;
    else {
      using X = typename detail::bottom_t<A>::value_type;
      using Y = typename detail::bottom_t<B>::value_type;
      using R = decltype(mul(X{}, Y{}));
      return detail::intercepts_sum<S, R>() ||
             detail::intercepts<
                 S, mul_t, detail::wrap_t<S, R>, detail::wrap_t<S, X>, detail::wrap_t<S, Y>>() ||
             detail::intercepts<
                 S, map_t, detail::wrap_t<S, array<R>>, mul_t, detail::wrap_t<S, array<X>>,
                 detail::wrap_t<S, array<Y>>>();
    }
  }
  template <class A, class B>
  OVERDUB_INLINE static constexpr auto compute(A const& xs, B const& ys) {
    if constexpr (detail::one_array<A>() && detail::one_array<B>()) {
      using R = decltype(mul(typename A::value_type{}, typename B::value_type{}));
      i64 const n = detail::sizes_of("dot", xs, ys);
      if (n == 0) return R{};
      return add(R{}, detail::reduce_elements<R>(add, n, [&](i64 i) OVERDUB_INLINE {
                   return mul(xs.data()[i], ys.data()[i]);
                 }));
    } else
      return detail::refused{};
  }
};
inline constexpr dot_t dot{};

} // namespace overdub
