// forward: differentiation along one direction, or along N at once. Each number carries its tangent; the
// derivatives of the operations are the last column of ir/ops.def. Runs nest, and are never taken for one
// another.
#pragma once

#include <overdub/overdub.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace overdub::contexts {

/// Tangents along N directions: a vector space over T. In arrays of numbers they are kept whole, one after another.
template <class T, int N>
struct tangents {
  alignas(16) std::array<T, static_cast<std::size_t>(N)> along;

  constexpr tangents() requires std::default_initializable<T> : along{} {}
  constexpr explicit tangents(zero) requires std::default_initializable<T> : along{} {}
  constexpr explicit tangents(std::array<T, static_cast<std::size_t>(N)> components)
      : along(std::move(components)) {}
  /// One component a direction.
  template <std::convertible_to<T>... U>
  requires(sizeof...(U) == N && N > 1) constexpr tangents(U... components)
      : along{static_cast<T>(components)...} {}
  constexpr T& operator[](int i) { return along[static_cast<std::size_t>(i)]; }
  constexpr T const& operator[](int i) const { return along[static_cast<std::size_t>(i)]; }
  friend bool operator==(tangents const&, tangents const&) = default;
};

template <class X>
inline constexpr bool is_tangents = false;
template <class T, int N>
inline constexpr bool is_tangents<tangents<T, N>> = true;
template <class X>
concept scalar = !is_tangents<X> && !std::same_as<X, zero> && !control<X>;

// The tangents make(0), ..., make(N - 1). They are not filled in a loop: g++ would keep them all in memory.
template <int N, class Make>
OVERDUB_INLINE constexpr auto each_direction(Make const& make) {
  return [&]<int... I>(std::integer_sequence<int, I...>) OVERDUB_INLINE {
    using T = std::remove_cvref_t<decltype(make(0))>;
    return tangents<T, N>(std::array<T, static_cast<std::size_t>(N)>{make(I)...});
  }
  (std::make_integer_sequence<int, N>{});
}

// f on each direction: on the components of the tangents among the arguments, and on the scalars as they are.
template <int N, class F, class... X>
OVERDUB_INLINE constexpr auto along_each(F const& f, X const&... x) {
  auto component = []<class Y>(Y const& y, [[maybe_unused]] int i) OVERDUB_INLINE -> decltype(auto) {
    if constexpr (is_tangents<Y>)
      return y[i];
    else
      return (y);
  };
  return each_direction<N>([&](int i) OVERDUB_INLINE { return f(component(x, i)...); });
}

template <class T, class U, int N>
OVERDUB_INLINE constexpr auto operator+(tangents<T, N> const& a, tangents<U, N> const& b) {
  return along_each<N>(add, a, b);
}
template <class T, class U, int N>
OVERDUB_INLINE constexpr auto operator-(tangents<T, N> const& a, tangents<U, N> const& b) {
  return along_each<N>(sub, a, b);
}
template <class T, int N>
OVERDUB_INLINE constexpr auto operator-(tangents<T, N> const& a) {
  return along_each<N>(neg, a);
}
template <scalar S, class T, int N>
OVERDUB_INLINE constexpr auto operator*(S const& s, tangents<T, N> const& a) {
  return along_each<N>(mul, s, a);
}
template <scalar S, class T, int N>
OVERDUB_INLINE constexpr auto operator*(tangents<T, N> const& a, S const& s) {
  return along_each<N>(mul, a, s);
}
template <scalar S, class T, int N>
OVERDUB_INLINE constexpr auto operator/(tangents<T, N> const& a, S const& s) {
  return along_each<N>(div, a, s);
}

template <class C, class T, int N, class B>
OVERDUB_INLINE constexpr auto select_along(C const& c, tangents<T, N> const& a, B const& b) {
  return along_each<N>([](auto const&... x) OVERDUB_INLINE { return detail::select_tangent(x...); }, c, a, b);
}
template <class C, class T, int N>
OVERDUB_INLINE constexpr auto select_along(C const& c, zero a, tangents<T, N> const& b) {
  return along_each<N>([](auto const&... x) OVERDUB_INLINE { return detail::select_tangent(x...); }, c, a, b);
}

/// Forward differentiation along N directions: overdub::tag(x, tangents) in, overdub::tag(result, tangents) out.
template <int N>
struct forward_along : context {
  static constexpr std::string_view name = "forward";

  template <class T>
  using metadata = std::conditional_t<
      !std::floating_point<plain_t<T>>, zero, std::conditional_t<N == 1, T, tangents<T, N>>>;

  // In arrays of numbers the N tangents of an element stand together; in those of values each direction has its array.
  template <class A>
  requires(N > 1 && std::floating_point<plain_t<element_t<A>>>) using array_metadata =
      std::conditional_t<in_context<A>, tangents<A, N>, array<metadata<element_t<A>>>>;

  constexpr zero constant(auto const&) const { return {}; }

  // Every elementwise operation, by its row of the table. What is not floating-point does not change, it
  // jumps.
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

  // Linear and bilinear reductions.
  template <class X>
  constexpr auto overdub(sum_t f, X xs) {
    return overdub::tag(f(xs.inner), linear(f, xs.metadata));
  }
  template <class X, class Y>
  constexpr auto overdub(dot_t f, X xs, Y ys) {
    auto along_xs = linear([&](auto const& dx) { return f(dx, ys.inner); }, xs.metadata);
    auto along_ys = linear([&](auto const& dy) { return f(xs.inner, dy); }, ys.metadata);
    return overdub::tag(f(xs.inner, ys.inner), along_xs + along_ys);
  }

  // A reduction by add is a sum, too.
  template <class F, class... X>
  requires(
      N == 1 && is_lowered<F, add_t> &&
      !(std::same_as<decltype(X::metadata), zero> ||
        ...)) constexpr auto overdub(reduce_t f, F const&, X const&... x) {
    return overdub::tag(f(add, x.inner...), f(add, x.metadata...));
  }

  // A native function has no derivative here, unless nothing that it gets changes.
  template <primitive F, class... X>
  requires(!elementwise<F> && !data_movement<F> && !control<F>) constexpr auto overdub(F f, X... x) {
    auto result = fallback(*this, f, x...);
    static_assert(
        !(varies<X>() || ...) || !varies<decltype(result)>(),
        "overdub: forward cannot differentiate this native function; extend the context with a rule for it: "
        "auto overdub(decltype(f), auto x) { return overdub::tag(f(x.inner), derivative * x.metadata); }");
    return result;
  }

private:
  // Whether X holds numbers that have a derivative: itself, in an array, a tree or a struct, or as metadata.
  template <class X>
  static consteval bool varies() {
    using P = plain_t<X>;
    if constexpr (requires(X x) { x.inner, x.metadata; })
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

  template <class F, class M>
  static constexpr auto linear(F const& f, M const& tangent) {
    if constexpr (std::same_as<M, zero>)
      return zero{};
    else if constexpr (is_tangents<M>)
      return along_each<N>(f, tangent);
    else
      return f(tangent);
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

/// Forward differentiation along one direction.
using forward = forward_along<1>;

/// f(x) and its derivative along `direction` (1 by default), as tagged{value, derivative}.
template <class F, class X>
constexpr auto value_and_derivative(F const& f, X const& x) {
  static_assert(
      std::floating_point<plain_t<X>>,
      "overdub: a derivative is taken at a floating-point number; write derivative(f, 3.0) for "
      "derivative(f, 3), and gradient(f, xs) for a function of an array");
  forward context;
  if constexpr (std::floating_point<plain_t<X>>)
    return overdub::overdub(context, f, overdub::tag(x, plain_t<X>{1}));
  else
    return overdub::tag(x, x);
}

/// The derivative of f at x. Nests: derivative of a function that takes derivatives.
template <class F, class X>
constexpr auto derivative(F const& f, X const& x) {
  return value_and_derivative(f, x).metadata;
}

/// The gradient of f, a function of an array, at xs; N directions a run. O(n / N) runs of f.
template <int N = 8, class F, std::floating_point T>
array<T> gradient(F const& f, array<T> const& xs) {
  using Tangent = metadata_t<forward_along<N>, T>;
  auto along = [](auto& tangent, [[maybe_unused]] i64 direction) -> auto& {
    if constexpr (N == 1)
      return tangent;
    else
      return tangent[static_cast<int>(direction)];
  };
  forward_along<N> context;
  auto const size = static_cast<std::size_t>(xs.size());
  std::vector<T> result;
  result.reserve(size);
  for (i64 first = 0; first < xs.size(); first += N) {
    std::vector<Tangent> seeds(size);
    for (i64 i = first; i < xs.size() && i < first + N; ++i)
      along(seeds[static_cast<std::size_t>(i)], i - first) = T{1};
    auto const directions = array<Tangent>::borrow(seeds);
    auto const slopes = overdub::overdub(context, f, overdub::tag(xs, directions)).metadata;
    for (i64 i = first; i < xs.size() && i < first + N; ++i) result.push_back(along(slopes, i - first));
  }
  return array<T>::copy_of(result);
}

} // namespace overdub::contexts

// Tangents are trees of their components.
template <class T, int N>
struct overdub::tree_traits<overdub::contexts::tangents<T, N>> {
  using children = std::tuple<T>;
  // A component as its tangents are: const or not, lvalue or rvalue.
  template <class X>
  using component = std::conditional_t<
      std::is_lvalue_reference_v<X>, decltype(std::declval<X&>()[0]),
      std::remove_reference_t<decltype(std::declval<X&>()[0])>&&>;
  static constexpr bool whole_in_arrays = std::is_arithmetic_v<T>;
  template <std::size_t, class X>
  OVERDUB_INLINE static constexpr auto& child(X& x) {
    return x[0];
  }
  template <class F, class X, class... Rest>
  OVERDUB_INLINE static constexpr void each(F const& f, X& x, Rest&... rest) {
    for (int i = 0; i < N; ++i) f(x[i], rest[i]...);
  }
  template <class F, class... X>
  OVERDUB_INLINE static constexpr auto map(F const& f, X&&... x) {
    return overdub::contexts::each_direction<N>(
        [&](int i) OVERDUB_INLINE { return f(static_cast<component<X>>(x[i])...); });
  }
  template <class F>
  OVERDUB_INLINE static constexpr auto generate(F const& f) {
    return overdub::contexts::each_direction<N>([&](int)
                                                    OVERDUB_INLINE { return f(std::type_identity<T>{}); });
  }
};
