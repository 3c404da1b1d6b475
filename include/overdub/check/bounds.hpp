// Preconditions for arguments: between(0.0, 1.0), each(between(0, 9), 1, 100).
#pragma once

#include <overdub/array/array.hpp>
#include <overdub/check/values.hpp>
#include <overdub/core/error.hpp>
#include <overdub/core/library.hpp>
#include <overdub/ir/type.hpp>

#include <concepts>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace overdub {

/// The set of an argument, of any type.
struct bounds {
  checking::abstract what;
};

/// The set of an argument of type T.
template <class T>
class bounds_of {
public:
  explicit bounds_of(checking::abstract what) : what_(std::move(what)) {}
  bounds erased() const { return {what_}; }
  operator bounds() const { return erased(); }
  checking::abstract const& what() const { return what_; }

private:
  checking::abstract what_;
};

namespace checking {
void check_order(bool ordered);
// The type in programs of a C++ type.
template <class T>
consteval ir::type type_of() {
  if constexpr (std::same_as<T, bool>)
    return ir::boolean;
  else if constexpr (std::same_as<T, i64>)
    return ir::i64;
  else if constexpr (std::same_as<T, float>)
    return ir::f32;
  else if constexpr (std::same_as<T, double>)
    return ir::f64;
  else {
    constexpr bool is_array = requires(T const& x) { x.span(); };
    static_assert(
        is_array,
        "overdub: any_finite<T> and anything<T> are of bool, i64, float, double, and arrays of them");
    if constexpr (is_array)
      return type_of<typename T::value_type>().array_of();
    else
      return {};
  }
}
// All finite numbers, or both bools; for arrays, of the elements.
abstract finite(ir::type t);
} // namespace checking

/// Numbers from low to high, both included; no NaN. An infinite bound includes infinities. Throws argument_error if low >
/// high.
template <std::floating_point T>
requires(std::same_as<T, double> || std::same_as<T, float>) bounds_of<T> between(T low, T high) {
  checking::check_order(low <= high);
  return bounds_of<T>(
      checking::scalar_of(checking::type_of<T>(), checking::number::of(checking::reals::of(low, high))));
}
template <std::integral T>
bounds_of<std::int64_t> between(T low, T high) {
  checking::check_order(low <= high);
  if (!std::in_range<std::int64_t>(low) || !std::in_range<std::int64_t>(high))
    throw argument_error(message("overdub: between: a bound is out of the range of programs' integers, which "
                                 "have 64 bits and a sign"));
  return bounds_of<std::int64_t>(checking::scalar_of(
      ir::i64, checking::number::of(
                   checking::integers::of(static_cast<std::int64_t>(low), static_cast<std::int64_t>(high)))));
}
/// This number, or bool.
template <class T>
requires std::same_as<T, bool> bounds_of<bool> exactly(T x) {
  return bounds_of<bool>(checking::scalar_of(ir::boolean, checking::number::of(checking::bools::only(x))));
}
template <class T>
requires(!std::same_as<T, bool> && std::is_arithmetic_v<T>) auto exactly(T x) { return between(x, x); }

/// All finite numbers of this type; both bools; arrays of any length of such.
template <class T>
bounds_of<T> any_finite() {
  return bounds_of<T>(checking::finite(checking::type_of<T>()));
}
/// All numbers, including infinities and NaN.
template <class T>
bounds_of<T> anything() {
  return bounds_of<T>(checking::anything(checking::type_of<T>()));
}

/// Arrays with these elements, or rows, and a length from least to most. Throws argument_error if least > most, or least <
/// 0.
template <class T>
bounds_of<array<T>> each(
    bounds_of<T> const& element, std::int64_t least = 0,
    std::int64_t most = checking::integers::sizes().high) {
  checking::check_order(0 <= least && least <= most);
  checking::abstract a = element.what();
  a.type = a.type.array_of();
  a.lengths.insert(a.lengths.begin(), checking::integers::of(least, most));
  return bounds_of<array<T>>(std::move(a));
}

} // namespace overdub
