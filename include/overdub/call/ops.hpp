// The elementwise operations as function objects: overdub::add, overdub::sin, ...; generated from the table core/ops.def.
#pragma once

#include <overdub/call/dispatch.hpp>
#include <overdub/call/native.hpp>
#include <overdub/call/value.hpp>

#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace overdub {
namespace detail {

// The functions of <cmath> convert integers to double, as in C++.
template <class Kind, class... T>
consteval bool mixes() {
  if constexpr (
      (std::is_arithmetic_v<T> && ...) && !std::is_base_of_v<kind::indexed, Kind> &&
      !std::is_base_of_v<kind::logical, Kind> && requires { typename std::common_type<T...>::type; }) {
    constexpr bool in_double = std::is_base_of_v<kind::math, Kind> && (std::is_integral_v<T> || ...);
    using R = std::common_type_t<T..., std::conditional_t<in_double, double, std::common_type_t<T...>>>;
    return (lossless<T, R>() && ...);
  } else if constexpr (std::is_base_of_v<kind::logical, Kind> && sizeof...(T) == 3)
    return []<class C, class X, class Y>(std::tuple<C, X, Y>*) { // select
      return mixes<kind::arithmetic, X, Y>();
    }(static_cast<std::tuple<T...>*>(nullptr));
  else
    return true;
}

template <class Op, class... Numbers>
consteval bool conversion_in() {
  constexpr bool scalars = !(is_array<Numbers> || ...);
  // The type of a shift is that of its left operand.
  constexpr bool is_shift = Op::name().starts_with("shift_") && (std::is_integral_v<Numbers> && ...);
  constexpr bool mixable = is_shift || mixes<typename Op::overdub_callee, Numbers...>();
  static_assert(
      scalars,
      "overdub: this operation takes numbers, and is given an array; write overdub::map(f, xs...) to "
      "apply it to each element");
  static_assert(
      mixable,
      "overdub: numbers of these types cannot be mixed here without losing some; write "
      "overdub::convert<double>(n) (or another type) around one of them; a rule for programs is "
      "compiled for all types of numbers: constrain it by the types that it is for, "
      "std::same_as<overdub::plain_t<X>, double>, and not by an expression, which is compiled for all, too");
  return scalars && mixable && !(std::is_same_v<Numbers, wrong> || ...);
}

template <class Op, class... X>
OVERDUB_INLINE constexpr auto dispatch_elementwise(Op const& op, X const&... x) {
  using S = outermost_t<X...>;
  if constexpr (!conversion_in<Op, bottom_t<X>...>() || std::is_same_v<S, unrelated>)
    return refused{};
  else if constexpr (S::empty)
    return op.compute(x...);
  else {
    if constexpr (is_watched<S>) report_call_of_constants<Op>(stack_from<S>(x...));
#if OVERDUB_CHECKED
    return dispatch(op, x...);
#else
    return call_primitive(stack_from<S>(x...), op, x...);
#endif
  }
}

} // namespace detail

#define OVERDUB_UNARY(NAME, KIND, TYPES, EFFECT, COST, TRAITS, NATIVE, TANGENT)                              \
  struct NAME##_t {                                                                                          \
    OVERDUB_PRIMITIVE(#NAME, KIND)                                                                           \
    template <class X>                                                                                       \
    OVERDUB_INLINE constexpr auto operator()(X const& x) const {                                             \
      return detail::dispatch_elementwise(*this, x);                                                         \
    }                                                                                                        \
    template <class X>                                                                                       \
    OVERDUB_INLINE static constexpr auto compute(X x) {                                                      \
      return NATIVE;                                                                                         \
    }                                                                                                        \
    template <class R, class X, class DX>                                                                    \
    OVERDUB_INLINE static constexpr auto tangent(R const& r, X const& x, DX const& dx);                      \
  };                                                                                                         \
  inline constexpr NAME##_t NAME{};

#define OVERDUB_BINARY(NAME, KIND, TYPES, EFFECT, COST, TRAITS, NATIVE, TANGENT)                             \
  struct NAME##_t {                                                                                          \
    OVERDUB_PRIMITIVE(#NAME, KIND)                                                                           \
    template <class X, class Y>                                                                              \
    OVERDUB_INLINE constexpr auto operator()(X const& x, Y const& y) const {                                 \
      return detail::dispatch_elementwise(*this, x, y);                                                      \
    }                                                                                                        \
    template <class X, class Y>                                                                              \
    OVERDUB_INLINE static constexpr auto compute(X x, Y y) {                                                 \
      return NATIVE;                                                                                         \
    }                                                                                                        \
    template <class R, class X, class Y, class DX, class DY>                                                 \
    OVERDUB_INLINE static constexpr auto                                                                     \
    tangent(R const& r, X const& x, Y const& y, DX const& dx, DY const& dy);                                 \
  };                                                                                                         \
  inline constexpr NAME##_t NAME{};

#define OVERDUB_TERNARY(NAME, KIND, TYPES, EFFECT, COST, TRAITS, NATIVE, TANGENT)                            \
  struct NAME##_t {                                                                                          \
    OVERDUB_PRIMITIVE(#NAME, KIND)                                                                           \
    template <class X, class Y, class Z>                                                                     \
    OVERDUB_INLINE constexpr auto operator()(X const& x, Y const& y, Z const& z) const {                     \
      return detail::dispatch_elementwise(*this, x, y, z);                                                   \
    }                                                                                                        \
    template <class X, class Y, class Z>                                                                     \
    OVERDUB_INLINE static constexpr auto compute(X x, Y y, Z z) {                                            \
      return NATIVE;                                                                                         \
    }                                                                                                        \
    template <class R, class X, class Y, class Z, class DX, class DY, class DZ>                              \
    OVERDUB_INLINE static constexpr auto                                                                     \
    tangent(R const& r, X const& x, Y const& y, Z const& z, DX const& dx, DY const& dy, DZ const& dz);       \
  };                                                                                                         \
  inline constexpr NAME##_t NAME{};

#include <overdub/core/ops.def>

/// convert<T>(x) converts x to T. Saturates if T cannot represent x; NaN becomes 0, or true for bool. Keeps the metadata of the number.
template <class To>
struct convert_t {
  using overdub_callee = kind::conversion;
  using target = To;
  static constexpr int depth = 0;
  static constexpr std::string_view name() { return "convert"; }
  template <class X>
  OVERDUB_INLINE constexpr auto operator()(X const& x) const {
    return detail::dispatch_elementwise(*this, x);
  }
  template <class X>
  OVERDUB_INLINE static constexpr To compute(X x) {
    return native::convert<To>(x);
  }
};
template <class To>
inline constexpr convert_t<To> convert{};

} // namespace overdub
