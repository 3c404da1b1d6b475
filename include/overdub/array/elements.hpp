// Trees of arrays, which represent arrays of trees (structure of arrays). Leaves without data (such as `zero`) are the same for all
// elements.
#pragma once

#include <overdub/array/array.hpp>
#include <overdub/call/refused.hpp>
#include <overdub/call/tree.hpp>

#include <type_traits>
#include <utility>

namespace overdub::detail {

template <class Given>
consteval bool holds_array() {
  using X = std::remove_cvref_t<Given>;
  if constexpr (is_array<X> || is_refused<X>)
    return true;
  else if constexpr (tree<X>)
    return []<class... T>(std::tuple<T...>*) {
      return (holds_array<T>() || ...);
    }(static_cast<typename tree_traits<X>::children*>(nullptr));
  else
    return false;
}

template <class... X>
consteval bool trees_of_arrays() {
  constexpr bool hold = (holds_array<X>() && ...);
  static_assert(
      hold, "overdub: an array is needed here; a std::vector is copied by array<T>::copy_of(v), or "
            "borrowed by array<T>::borrow(v)");
  return hold && !(is_refused<X> || ...);
}

template <class X>
consteval bool one_array() {
  constexpr bool is_one = is_array<X>;
  static_assert(
      is_one || is_refused<X>,
      "overdub: an array<T> is needed here, one alone; a std::vector is copied by array<T>::copy_of(v), or "
      "borrowed by array<T>::borrow(v)");
  return is_one;
}

// Converts an index or a count to i64.
template <class I>
OVERDUB_INLINE constexpr i64 as_index(I const& i) {
  constexpr bool whole = std::is_integral_v<I>;
  static_assert(
      whole || is_refused<I>,
      "overdub: an index or a count must be an integer; write overdub::convert<overdub::i64>(x)");
  if constexpr (whole)
    return static_cast<i64>(i);
  else
    return 0;
}

// The common size of all arrays of the tree; -1 if it has no array. Throws size_error.
template <class X>
constexpr i64 size_if_any(std::string_view op, X const& x) {
  if constexpr (is_array<X>)
    return x.size();
  else if constexpr (tree<X>) {
    i64 size = -1;
    auto meet = [&](auto const& child) {
      i64 const other = size_if_any(op, child);
      if (size >= 0 && other >= 0 && other != size) throw_sizes(op, size, other);
      if (other >= 0) size = other;
    };
    each_child(meet, x);
    return size;
  } else
    return -1;
}
// The common size of all arrays; 0 for an empty std::vector of arrays. Throws size_error.
template <class X, class... Rest>
constexpr i64 sizes_of(std::string_view op, X const& x, Rest const&... rest) {
  i64 size = size_if_any(op, x);
  [[maybe_unused]] auto meet = [&](i64 other) {
    if (size >= 0 && other >= 0 && other != size) throw_sizes(op, size, other);
    if (other >= 0) size = other;
  };
  (meet(size_if_any(op, rest)), ...);
  if constexpr (is_array<X>)
    return size;
  else
    return size < 0 ? 0 : size;
}

// The tree of the i-th elements; the index must be in range.
template <class X>
OVERDUB_INLINE constexpr auto element(X const& x, i64 i) {
  if constexpr (is_array<X>)
    return x.data()[i];
  else if constexpr (tree<X>)
    return tree_traits<X>::map([i](auto const& child) OVERDUB_INLINE { return element(child, i); }, x);
  else
    return x;
}

// The same, with a range check for each array. No instance of map_arrays, since g++ 12 stores the captures of its function in each
// iteration of a loop.
template <class X>
OVERDUB_INLINE constexpr auto checked_element(std::string_view op, X const& x, i64 i) {
  if constexpr (is_array<X>) {
    if (static_cast<std::uint64_t>(i) >= static_cast<std::uint64_t>(x.size())) throw_index(op, i, x.size());
    return x.data()[i];
  } else if constexpr (tree<X>)
    return tree_traits<X>::map(
        [op, i](auto const& child) OVERDUB_INLINE { return checked_element(op, child, i); }, x);
  else
    return x;
}

// The tree of f(array, parts...) for each array of a tree and the parts of other trees at its position. Other leaves are returned
// unchanged.
template <class F, class A, class... X>
OVERDUB_INLINE constexpr auto map_arrays(F const& f, A&& a, X const&... x) {
  using T = std::remove_cvref_t<A>;
  if constexpr (is_array<T>)
    return f(std::forward<A>(a), x...);
  else if constexpr (tree<T>)
    return tree_traits<T>::map(
        [&f](auto&& child, auto const&... part)
            OVERDUB_INLINE { return map_arrays(f, std::forward<decltype(child)>(child), part...); },
        std::forward<A>(a), x...);
  else
    return T(std::forward<A>(a));
}

// Builders for a tree of arrays whose elements are trees like E.
template <class E>
struct empty_builder {
  OVERDUB_INLINE constexpr void put(i64, E const&) {}
  OVERDUB_INLINE constexpr E finish(i64) { return {}; }
};

// A small tree of numbers that arrays store as one element: an array of trees instead of a tree of arrays.
template <class E>
concept whole_in_arrays = tree_traits<E>::whole_in_arrays;

// Whether the metadata of elements are stored as a tree of arrays. Metadata are stored as one element only in the innermost context, since
// an inner context has arrays of its own. Level is the innermost one, or void.
template <class E, class Level>
inline constexpr bool splits_metadata = false;
template <class T, class M, class L, class Level>
inline constexpr bool splits_metadata<tagged<T, M, L>, Level> =
    whole_in_arrays<M> && !std::is_void_v<L> && !std::is_same_v<L, Level>;

// Specialised for elements with builders of their own: `type` is constructed from the size.
template <class E>
struct own_builder {};

template <class E, class Level = void, bool Split = false>
OVERDUB_INLINE constexpr auto make_builders(i64 size) {
  if constexpr (requires { typename own_builder<E>::type; })
    return typename own_builder<E>::type(size);
  else if constexpr (generated_tree<E> && (Split || !whole_in_arrays<E>))
    return tree_traits<E>::generate([size]<class Child>(std::type_identity<Child>) OVERDUB_INLINE {
      return make_builders<std::remove_cvref_t<Child>, Level, splits_metadata<E, Level>>(size);
    });
  else if constexpr (std::is_empty_v<E>)
    return empty_builder<E>{};
  else
    return array_builder<E>(size);
}

template <class B, class E>
OVERDUB_INLINE constexpr void put_element(B& builders, i64 i, E&& e) {
  if constexpr (requires { builders.put(i, static_cast<E&&>(e)); })
    builders.put(i, static_cast<E&&>(e));
  else
    each_child(
        [i](auto& builder, auto& child) OVERDUB_INLINE {
          using Child = std::remove_cvref_t<decltype(child)>;
          if constexpr (std::is_const_v<std::remove_reference_t<decltype(child)>>)
            put_element(builder, i, child);
          else
            put_element(builder, i, static_cast<Child&&>(child));
        },
        builders, e);
}

template <class B>
OVERDUB_INLINE constexpr auto finish_elements(B&& builders, i64 size) {
  if constexpr (requires { builders.finish(size); })
    return builders.finish(size);
  else
    return tree_traits<std::remove_cvref_t<B>>::map(
        [size](auto&& builder) OVERDUB_INLINE { return finish_elements(std::move(builder), size); },
        std::move(builders));
}

} // namespace overdub::detail
