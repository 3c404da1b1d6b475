// tangents<T, N>: N tangents of a number as one value, which is an element of a vector space over T, and a tree of its components.
#pragma once

#include <overdub/overdub.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace overdub::contexts {

/// Tangents in N directions: a vector space over T. Arrays of numbers store them contiguously.
template <class T, int N>
struct tangents {
  alignas(16) std::array<T, static_cast<std::size_t>(N)> along;

  constexpr tangents() requires std::default_initializable<T> : along{} {}
  constexpr explicit tangents(zero) requires std::default_initializable<T> : along{} {}
  constexpr explicit tangents(std::array<T, static_cast<std::size_t>(N)> components)
      : along(std::move(components)) {}
  /// One component for each direction.
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

// The tangents make(0), ..., make(N - 1). A pack expansion, since g++ would keep a loop's result in memory.
template <int N, class Make>
OVERDUB_INLINE constexpr auto each_direction(Make const& make) {
  return [&]<int... I>(std::integer_sequence<int, I...>) OVERDUB_INLINE {
    using T = std::remove_cvref_t<decltype(make(0))>;
    return tangents<T, N>(std::array<T, static_cast<std::size_t>(N)>{make(I)...});
  }
  (std::make_integer_sequence<int, N>{});
}

// Applies f in each direction: to the components of arguments that are tangents, and to scalar arguments unchanged.
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

template <class T, int N, class S>
OVERDUB_INLINE constexpr auto times_each(tangents<T, N> const& a, S const& factor) {
  return along_each<N>(strong_mul, a, factor);
}
template <class T, int N, class S>
OVERDUB_INLINE constexpr auto over_each(tangents<T, N> const& a, S const& y) {
  return along_each<N>(strong_div, a, y);
}

template <class C, class T, int N, class B>
OVERDUB_INLINE constexpr auto select_along(C const& c, tangents<T, N> const& a, B const& b) {
  return along_each<N>([](auto const&... x) OVERDUB_INLINE { return detail::select_tangent(x...); }, c, a, b);
}
template <class C, class T, int N>
OVERDUB_INLINE constexpr auto select_along(C const& c, zero a, tangents<T, N> const& b) {
  return along_each<N>([](auto const&... x) OVERDUB_INLINE { return detail::select_tangent(x...); }, c, a, b);
}

} // namespace overdub::contexts

// Tangents are trees of their components.
template <class T, int N>
struct overdub::tree_traits<overdub::contexts::tangents<T, N>> {
  using children = std::tuple<T>;
  // A component has the constness and value category of its tangents.
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
