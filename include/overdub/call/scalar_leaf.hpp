// The scalar types that contexts wrap into values. All other types, except arrays and trees of scalars, are opaque, and are passed
// unchanged.
#pragma once

#include <overdub/core/requirements.hpp>

#include <type_traits>

namespace overdub {

/// Specialise to true for a scalar type of your own that contexts should wrap, with metadata.
template <class T>
inline constexpr bool is_scalar_leaf = std::is_arithmetic_v<T>;

/// Whether a T can be the condition of a C++ branch: `if (x < y)` on a value. False for symbolic types, whose bool is unknown.
template <class T>
inline constexpr bool has_bool = std::is_same_v<T, bool>;

template <class T>
class array;
template <class T>
inline constexpr bool is_scalar_leaf<array<T>> = true;

} // namespace overdub
