// The sum of two values of one type: adds their numbers and the numbers in their metadata. Contexts do not intercept the additions.
// Accumulators use it if metadata are numbers of the type of the value, in evaluations and in staged programs, since addition is linear.
#pragma once

#include <overdub/array/primitives.hpp>
#include <overdub/call/native.hpp>
#include <overdub/call/tree.hpp>
#include <overdub/call/value.hpp>

#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

namespace overdub::detail {

template <class X>
inline constexpr bool
    is_of_numbers = (std::is_arithmetic_v<X> && !std::is_same_v<X, bool>) || std::is_empty_v<X>;
template <class T>
inline constexpr bool is_of_numbers<array<T>> = is_of_numbers<T>;
// Whether the type of a context's metadata depends on the type of the value, as that of tangents does. Metadata of one type for all values,
// such as exponents of units, are not summed: the context's rule combines them.
template <class C>
inline constexpr bool follows_values =
    std::is_empty_v<metadata_t<C, double>> || !std::is_same_v<metadata_t<C, double>, metadata_t<C, float>>;
template <class T, class C, class R>
inline constexpr bool is_of_numbers<value<T, C, R>> =
    is_of_numbers<T>&& is_of_numbers<typename value<T, C, R>::metadata_type>&& follows_values<C>;
template <class... X>
inline constexpr bool is_of_numbers<std::tuple<X...>> = (is_of_numbers<X> && ...);
template <tree X>
requires(!std::is_empty_v<X>) inline constexpr bool is_of_numbers<X> =
    is_of_numbers<typename tree_traits<X>::children>;

struct sum_of_numbers_t {
  template <class X>
  X operator()(X const& x, X const& y) const {
    if constexpr (std::is_empty_v<X>)
      return x;
    else if constexpr (std::is_arithmetic_v<X>)
      return native::add(x, y);
    else if constexpr (is_array<X>)
      return map(*this, x, y);
    else if constexpr (tree<X>)
      return tree_traits<X>::map(*this, x, y);
    else
      return X(
          (*this)(x.inner(), y.inner()), (*this)(x.metadata(), y.metadata()),
          x.context().is_null() ? y.context() : x.context());
  }
};
inline constexpr sum_of_numbers_t sum_of_numbers{};

// Adds a value to the part of an array that the indices select. In place, O(part), for a row of numbers without metadata that
// no other array shares; others copy the rows on the way. Throws index_error.
struct add_to_part_t {
  template <class X, class Part>
  X operator()(X&& whole, std::span<i64 const> indices, Part const& x) const {
    static_assert(!std::is_reference_v<X>);
    if constexpr (std::is_empty_v<X>)
      return whole;
    else if constexpr (is_array<X>) {
      if (indices[0] < 0 || indices[0] >= whole.size()) throw_index("add_to", indices[0], whole.size());
      auto element = whole[indices[0]];
      if constexpr (std::is_same_v<typename X::value_type, Part>)
        return std::move(whole).with(indices[0], sum_of_numbers(element, x));
      else
        return std::move(whole).with(indices[0], (*this)(std::move(element), indices.subspan(1), x));
    } else if constexpr (tree<X>)
      return tree_traits<X>::map(
          [&](auto&& child, auto const& y) { return (*this)(std::move(child), indices, y); },
          std::move(whole), x);
    else {
      auto metadata = whole.metadata();
      auto const context = whole.context().is_null() ? x.context() : whole.context();
      return X(
          (*this)(std::move(whole).inner(), indices, x.inner()),
          (*this)(std::move(metadata), indices, x.metadata()), context);
    }
  }
};
inline constexpr add_to_part_t add_to_part{};

} // namespace overdub::detail
