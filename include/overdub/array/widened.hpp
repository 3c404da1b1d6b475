// widened: conversion of C++ types to the types of programs: integers to 64 bits, and vectors to arrays.
#pragma once

#include <overdub/array/array.hpp>
#include <overdub/core/error.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace overdub {
namespace detail {

template <class X>
inline constexpr bool is_row = false; // an array, or a vector
template <class T>
inline constexpr bool is_row<array<T>> = true;
template <class T, class Allocator>
inline constexpr bool is_row<std::vector<T, Allocator>> = true;

template <class X>
struct widened_type {
  using type = X;
};
template <std::integral X>
requires(!std::same_as<X, bool>) struct widened_type<X> {
  using type = i64;
};
template <class X>
requires is_row<X>
struct widened_type<X> {
  using type = array<typename widened_type<typename X::value_type>::type>;
};
template <class... X>
struct widened_type<std::tuple<X...>> {
  using type = std::tuple<typename widened_type<X>::type...>;
};
template <class X, std::size_t N>
struct widened_type<std::array<X, N>> {
  using type = std::array<typename widened_type<X>::type, N>;
};
template <class A, class B>
struct widened_type<std::pair<A, B>> {
  using type = std::pair<typename widened_type<A>::type, typename widened_type<B>::type>;
};

} // namespace detail

/// i64 for integers other than bool; an array for an array or a std::vector, with widened elements; tuples, pairs and std::arrays of the
/// widened types of their members; other types unchanged.
template <class X>
using widened_t = typename detail::widened_type<X>::type;

/// Converts x to widened_t<X>. Throws argument_error if an i64 cannot represent an integer. O(1) for types that are unchanged, including
/// arrays, and otherwise O(n).
template <class X>
widened_t<X> widened(X const& x) {
  using W = widened_t<X>;
  if constexpr (std::same_as<W, X>)
    return x;
  else if constexpr (std::integral<X>) {
    constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<i64>::max());
    if (sizeof x == sizeof most && std::is_unsigned_v<X> && static_cast<std::uint64_t>(x) > most)
      throw argument_error(
          message("overdub: %llu is given, and integers go to 2^63 - 1", static_cast<unsigned long long>(x)));
    return static_cast<i64>(x);
  } else if constexpr (detail::is_row<X>) {
    auto const count = static_cast<i64>(x.size());
    detail::array_builder<typename W::value_type> out(count);
    i64 next = 0;
    for (auto const& element : x) out.put(next++, widened<typename X::value_type>(element));
    return out.finish(count);
  } else {
    return std::apply([](auto const&... member) { return W{widened(member)...}; }, x);
  }
}

} // namespace overdub
