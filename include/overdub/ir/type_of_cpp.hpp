// The types of C++ values in programs.
#pragma once

#include <overdub/array/array.hpp>
#include <overdub/ir/type.hpp>

namespace overdub::detail {

// The type in programs of the C++ type T; none if there is none.
template <class T>
inline constexpr ir::type type_of_cpp{};
template <>
inline constexpr ir::type type_of_cpp<bool> = ir::boolean;
template <>
inline constexpr ir::type type_of_cpp<i64> = ir::i64;
template <>
inline constexpr ir::type type_of_cpp<float> = ir::f32;
template <>
inline constexpr ir::type type_of_cpp<double> = ir::f64;
template <class T>
inline constexpr ir::type type_of_cpp<array<T>> = type_of_cpp<T> ? type_of_cpp<T>.array_of() : type_of_cpp<T>;

} // namespace overdub::detail
