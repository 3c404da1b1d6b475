// zero: the tangent of a constant, as a type. Adding it costs nothing, and a product with it is zero.
#pragma once

#include <overdub/core/requirements.hpp>

#include <type_traits>

namespace overdub {

struct zero {
  template <class T>
  requires std::is_arithmetic_v<T>
  constexpr operator T() const { return T{}; }
};

namespace detail {
template <class T>
concept nonzero = !std::is_same_v<T, zero>;
}

constexpr zero operator-(zero) { return {}; }
constexpr zero operator+(zero, zero) { return {}; }
constexpr zero operator-(zero, zero) { return {}; }
constexpr zero operator*(zero, zero) { return {}; }
template <detail::nonzero T>
constexpr T operator+(zero, T const& x) {
  return x;
}
template <detail::nonzero T>
constexpr T operator+(T const& x, zero) {
  return x;
}
template <detail::nonzero T>
constexpr auto operator-(zero, T const& x) {
  return -x;
}
template <detail::nonzero T>
constexpr T operator-(T const& x, zero) {
  return x;
}
template <detail::nonzero T>
constexpr zero operator*(zero, T const&) {
  return {};
}
template <detail::nonzero T>
constexpr zero operator*(T const&, zero) {
  return {};
}
template <detail::nonzero T>
constexpr zero operator/(zero, T const&) {
  return {};
}

} // namespace overdub
