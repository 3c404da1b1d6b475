// Which types travel inside a value: scalars, arrays of them, and whatever says so here. All other types are
// opaque and travel as they are.
#pragma once

#include <overdub/core/requirements.hpp>

#include <type_traits>

namespace overdub {

/// Specialise to true for a type that contexts shall carry metadata for.
template <class T>
inline constexpr bool is_carried = std::is_arithmetic_v<T>;

/// Whether a T decides a branch by itself: `if (x < y)` on a value. False for symbols, whose truth is not
/// known yet.
template <class T>
inline constexpr bool has_truth = std::is_same_v<T, bool>;

template <class T>
class array;
template <class T>
inline constexpr bool is_carried<array<T>> = true;

} // namespace overdub
