// Lists of types.
#pragma once

#include <overdub/core/config.hpp>
#include <overdub/core/requirements.hpp>

#include <type_traits>

namespace overdub {

/// A list of types, for contracts between contexts.
template <class... T>
struct types {};

/// The types of a function's arguments: signature<double, array<double>>.
template <class... T>
inline constexpr types<T...> signature{};

namespace detail {

// Identifies a list of types at run time by its address. Types of two shared objects are different, even if they have the same name, since
// their definitions may differ.
template <class... T>
OVERDUB_HIDDEN inline constexpr char type_key{};

template <bool Kept, class C>
using keep = std::conditional_t<Kept, types<C>, types<>>;
template <class... Lists>
struct concatenated {
  using type = types<>;
};
template <class... A>
struct concatenated<types<A...>> {
  using type = types<A...>;
};
template <class... A, class... B, class... Rest>
struct concatenated<types<A...>, types<B...>, Rest...> : concatenated<types<A..., B...>, Rest...> {};
template <class... Lists>
using concatenated_t = typename concatenated<Lists...>::type;

} // namespace detail
} // namespace overdub
