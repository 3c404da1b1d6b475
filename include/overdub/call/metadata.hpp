// metadata_t<C, T>: the type of the metadata that a context C stores beside a value of type T, as dual numbers store a tangent. The
// metadata of an array are an array of its elements' metadata. Those of a described struct are a tuple of its members' metadata.
#pragma once

#include <overdub/call/context.hpp>
#include <overdub/call/scalar_leaf.hpp>
#include <overdub/call/stack.hpp>

#include <concepts>
#include <tuple>
#include <type_traits>

namespace overdub {

namespace values {
template <class T, class C, class Run>
class value;
}
using values::value;

namespace detail {

template <class X>
inline constexpr bool is_value = false;
template <class T, class C, class R>
inline constexpr bool is_value<value<T, C, R>> = true;

// The innermost type of X: T of value<value<T, ...>, ...>.
template <class X>
struct bottom {
  using type = X;
};
template <class T, class C, class R>
struct bottom<value<T, C, R>> : bottom<T> {};
template <class X>
using bottom_t = typename bottom<X>::type;

// The stack of contexts of a value.
template <class X>
struct stack_of {
  using type = stack<>;
};
template <class T, class C, class R>
struct stack_of<value<T, C, R>> {
  using type = push_t<level<C, R>, typename stack_of<T>::type>;
};
template <class X>
using stack_of_t = typename stack_of<X>::type;

template <class X>
inline constexpr bool is_array = false;
template <class T>
inline constexpr bool is_array<array<T>> = true;

// X, wrapped in the contexts of T: in_place_of_t<X, value<T, C, R>> is value<X, C, R>.
template <class X, class T>
struct in_place_of {
  using type = X;
};
template <class X, class T, class C, class R>
struct in_place_of<X, value<T, C, R>> {
  using type = value<typename in_place_of<X, T>::type, C, R>;
};
template <class X, class T>
using in_place_of_t = typename in_place_of<X, T>::type;

template <class T>
struct array_element;
template <class T>
struct array_element<array<T>> {
  using type = T;
};
template <class T>
using array_element_t = in_place_of_t<typename array_element<bottom_t<T>>::type, T>;

// The type of an array with elements of type M. Contexts wrap the array, and not its elements: a value of an array, for M a value. A tree
// of metadata becomes a tree of arrays, as structures of arrays are (tree.hpp). An empty M has no data, and is its own array.
template <class M>
struct array_of {
  using type = std::conditional_t<std::is_empty_v<M>, M, array<M>>;
};
template <class T, class C, class R>
struct array_of<value<T, C, R>> {
  using type = value<typename array_of<T>::type, C, R>;
};
template <class M>
using array_of_t = typename array_of<M>::type;

// The members of a plain described struct, as a tuple of types; specialised in described.hpp.
template <class S>
struct plain_members {
  using type = void;
};
template <class S>
concept plain_described = !std::is_void_v<typename plain_members<S>::type>;

template <class T>
concept array_inside = is_array<bottom_t<T>>;
template <class T>
concept struct_inside = plain_described<bottom_t<T>>;

template <class C, class T>
struct metadata_of {
  using type = none;
};

template <carries_metadata C, class T>
struct metadata_of<C, T> {
  using type = typename C::template metadata<T>;
};
template <carries_metadata C, array_inside T>
struct metadata_of<C, T> : array_of<typename metadata_of<C, array_element_t<T>>::type> {};
template <carries_metadata C, array_inside T>
requires requires { typename C::template array_metadata<T>; }
struct metadata_of<C, T> {
  using type = typename C::template array_metadata<T>;
};

template <class C, class T, class Members>
struct member_metadata;
template <class C, class T, class... M>
struct member_metadata<C, T, std::tuple<M...>> {
  using type = std::tuple<typename metadata_of<C, in_place_of_t<M, T>>::type...>;
};
template <carries_metadata C, struct_inside T>
struct metadata_of<C, T> : member_metadata<C, T, typename plain_members<bottom_t<T>>::type> {};

} // namespace detail

/// The metadata type of a value with the inner type T in the context C; `none` if C has no metadata.
template <class C, class T>
using metadata_t = typename detail::metadata_of<C, T>::type;

} // namespace overdub
