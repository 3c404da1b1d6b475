// C++ operators and the functions of <cmath> on values. Argument-dependent lookup finds them, so that code for numbers also works on
// values: `using std::sqrt; sqrt(x)` as well as overdub::sqrt(x).
#pragma once

#include <overdub/call/ops.hpp>
#include <overdub/call/value.hpp>

#include <cstdint>
#include <iosfwd>

namespace overdub::values {

template <class A, class B>
concept one_value = detail::is_named_value<A> || detail::is_named_value<B>;
template <class A, class B>
concept operands = one_value<A, B> &&
    (detail::is_leaf<A> || detail::is_refused<A>)&&(detail::is_leaf<B> || detail::is_refused<B>);

#define OVERDUB_UNARY_OPERATOR(SIGN, NAME)                                                                   \
  template <class T, class C, class R>                                                                       \
  OVERDUB_INLINE constexpr auto operator SIGN(value<T, C, R> const& x) {                                     \
    return detail::dispatch_elementwise(overdub::NAME, x);                                                   \
  }
#define OVERDUB_BINARY_OPERATOR(SIGN, NAME)                                                                  \
  template <class A, class B>                                                                                \
  requires operands<A, B> OVERDUB_INLINE constexpr auto operator SIGN(A const& a, B const& b) {              \
    return detail::dispatch_elementwise(overdub::NAME, a, b);                                                \
  }

OVERDUB_UNARY_OPERATOR(-, neg)
OVERDUB_UNARY_OPERATOR(!, logical_not)
OVERDUB_UNARY_OPERATOR(~, bit_not)
OVERDUB_BINARY_OPERATOR(+, add)
OVERDUB_BINARY_OPERATOR(-, sub)
OVERDUB_BINARY_OPERATOR(*, mul)
OVERDUB_BINARY_OPERATOR(/, div)
OVERDUB_BINARY_OPERATOR(%, rem)
OVERDUB_BINARY_OPERATOR(==, eq)
OVERDUB_BINARY_OPERATOR(!=, ne)
OVERDUB_BINARY_OPERATOR(<, lt)
OVERDUB_BINARY_OPERATOR(<=, le)
OVERDUB_BINARY_OPERATOR(>, gt)
OVERDUB_BINARY_OPERATOR(>=, ge)
OVERDUB_BINARY_OPERATOR(&&, logical_and)
OVERDUB_BINARY_OPERATOR(||, logical_or)
OVERDUB_BINARY_OPERATOR(&, bit_and)
OVERDUB_BINARY_OPERATOR(|, bit_or)
OVERDUB_BINARY_OPERATOR(^, bit_xor)
OVERDUB_BINARY_OPERATOR(<<, shift_left)
OVERDUB_BINARY_OPERATOR(>>, shift_right)
#undef OVERDUB_UNARY_OPERATOR
#undef OVERDUB_BINARY_OPERATOR

template <class T, class C, class R>
OVERDUB_INLINE constexpr value<T, C, R> operator+(value<T, C, R> const& x) {
  return x;
}

// Misuse: a variable that starts as a plain number stays one.
#define OVERDUB_ASSIGNMENT(SIGN)                                                                             \
  template <class N, class T, class C, class R>                                                              \
  requires std::is_arithmetic_v<N>                                                                           \
  constexpr N& operator SIGN##=(N& plain, value<T, C, R> const&) {                                           \
    static_assert(                                                                                           \
        !std::is_arithmetic_v<N>,                                                                            \
        "overdub: a plain number is the left side of " #SIGN "=, and a value of a context the right one; "   \
        "declare the variable with the type of the values: std::decay_t<decltype(x)> s = 0");                \
    return plain;                                                                                            \
  }
OVERDUB_ASSIGNMENT(+)
OVERDUB_ASSIGNMENT(-)
OVERDUB_ASSIGNMENT(*)
OVERDUB_ASSIGNMENT(/)
OVERDUB_ASSIGNMENT(%)
OVERDUB_ASSIGNMENT(&)
OVERDUB_ASSIGNMENT(|)
OVERDUB_ASSIGNMENT(^)
OVERDUB_ASSIGNMENT(<<)
OVERDUB_ASSIGNMENT(>>)
#undef OVERDUB_ASSIGNMENT

/// Prints the number of a value. No context intercepts it.
template <class Character, class Traits, class T, class C, class R>
requires std::is_arithmetic_v<detail::bottom_t<T>> std::basic_ostream<Character, Traits>
&operator<<(std::basic_ostream<Character, Traits>& to, value<T, C, R> const& x) {
  constexpr bool is_known = !detail::is_symbolic<typename value<T, C, R>::stack_type>;
  static_assert(
      is_known,
      "overdub: a value of a program that is being staged is printed, and is not known yet; print in "
      "an overdub::leaf, or print the results of the program");
  if constexpr (is_known) to << detail::make_concrete{}(x);
  return to;
}

// The named operations of the table, as functions of values.
#define OVERDUB_UNARY(NAME, KIND, TYPES, EFFECT, COST, TRAITS, NATIVE, TANGENT)                              \
  template <class T, class C, class R>                                                                       \
  OVERDUB_INLINE constexpr auto NAME(value<T, C, R> const& x) {                                              \
    return detail::dispatch_elementwise(overdub::NAME, x);                                                   \
  }
#define OVERDUB_BINARY(NAME, KIND, TYPES, EFFECT, COST, TRAITS, NATIVE, TANGENT)                             \
  template <class A, class B>                                                                                \
  requires operands<A, B> OVERDUB_INLINE constexpr auto NAME(A const& a, B const& b) {                       \
    return detail::dispatch_elementwise(overdub::NAME, a, b);                                                \
  }
#define OVERDUB_TERNARY(NAME, KIND, TYPES, EFFECT, COST, TRAITS, NATIVE, TANGENT)                            \
  template <class A, class B, class D>                                                                       \
  requires(operands<A, B> || operands<B, D> || operands<A, D>) OVERDUB_INLINE constexpr auto NAME(           \
      A const& a, B const& b, D const& d) {                                                                  \
    return detail::dispatch_elementwise(overdub::NAME, a, b, d);                                             \
  }
#include <overdub/core/ops.def>

template <class T, class C, class R>
OVERDUB_INLINE constexpr auto fabs(value<T, C, R> const& x) {
  if constexpr (std::is_integral_v<detail::bottom_t<T>>)
    return overdub::abs(overdub::convert<double>(x)); // as in C++
  else
    return overdub::abs(x);
}

} // namespace overdub::values

// Code for plain numbers calls std::sin(x): the functions of values are in this namespace, too. They take no other types.
namespace std {
using overdub::values::abs;
using overdub::values::acos;
using overdub::values::acosh;
using overdub::values::asin;
using overdub::values::asinh;
using overdub::values::atan;
using overdub::values::atan2;
using overdub::values::atanh;
using overdub::values::cbrt;
using overdub::values::ceil;
using overdub::values::copysign;
using overdub::values::cos;
using overdub::values::cosh;
using overdub::values::erf;
using overdub::values::erfc;
using overdub::values::exp;
using overdub::values::exp2;
using overdub::values::expm1;
using overdub::values::fabs;
using overdub::values::fdim;
using overdub::values::floor;
using overdub::values::fma;
using overdub::values::fmax;
using overdub::values::fmin;
using overdub::values::fmod;
using overdub::values::hypot;
using overdub::values::isfinite;
using overdub::values::isinf;
using overdub::values::isnan;
using overdub::values::ldexp;
using overdub::values::lerp;
using overdub::values::lgamma;
using overdub::values::log;
using overdub::values::log10;
using overdub::values::log1p;
using overdub::values::log2;
using overdub::values::logb;
using overdub::values::max;
using overdub::values::min;
using overdub::values::nearbyint;
using overdub::values::nextafter;
using overdub::values::pow;
using overdub::values::remainder;
using overdub::values::rint;
using overdub::values::round;
using overdub::values::signbit;
using overdub::values::sin;
using overdub::values::sinh;
using overdub::values::sqrt;
using overdub::values::tan;
using overdub::values::tanh;
using overdub::values::tgamma;
using overdub::values::trunc;
} // namespace std

namespace overdub::detail {

// Converts a value as a cast of C++ does: integers wrap, where `convert` saturates. Contexts intercept the operations.
template <class To, class X>
constexpr auto cast(X const& x) {
  using From = bottom_t<X>;
  if constexpr (!wraps<From, To>)
    return overdub::convert<To>(x);
  else {
    constexpr int from = sizeof(From) * 8, to = sizeof(To) * 8;
    constexpr std::uint64_t all = ~std::uint64_t{0}, mask = all >> (64 - to);
    if constexpr (to == 64 && from < 64) // from a signed integer
      return cast<To>(overdub::convert<std::int64_t>(x));
    else if constexpr (to == 64) { // the lower 63 bits, and the highest
      auto const lower = overdub::convert<To>(x & static_cast<From>(all >> 1));
      auto const is_highest = (x & static_cast<From>(~(all >> 1))) != From{0};
      return overdub::select(is_highest, lower | static_cast<To>(~(all >> 1)), lower);
    } else if constexpr (std::is_unsigned_v<To> && from <= to)
      return overdub::convert<To>(overdub::convert<std::int64_t>(x) & static_cast<std::int64_t>(mask));
    else if constexpr (std::is_unsigned_v<To>)
      return overdub::convert<To>(x & static_cast<From>(mask));
    else if constexpr (std::is_unsigned_v<From> && from > to)
      return cast<To>(overdub::convert<std::int64_t>(x & static_cast<From>(mask)));
    else if constexpr (std::is_unsigned_v<From>)
      return cast<To>(overdub::convert<std::int64_t>(x));
    else { // extends the sign
      constexpr int more = static_cast<int>(sizeof(From{} << 1) * 8) - to;
      return overdub::convert<To>((x << more) >> more);
    }
  }
}

} // namespace overdub::detail

namespace overdub::values {

template <class T, class C, class R>
template <class N>
constexpr N value<T, C, R>::plain() const {
  using From = detail::bottom_t<T>;
  if constexpr (!detail::is_known_number<N, stack_type>())
    return {};
  else if constexpr (detail::wraps<From, N>) {
    // One operation, unless the number wraps.
    From const number = detail::make_concrete{}(*this);
    auto const converted = static_cast<N>(number);
    bool const is_same = static_cast<From>(converted) == number && (converted < N{}) == (number < From{});
    return detail::make_concrete{}(is_same ? overdub::convert<N>(*this) : detail::cast<N>(*this));
  } else
    return detail::make_concrete{}(overdub::convert<N>(*this));
}

template <class T, class C, class R>
template <class X>
constexpr value<T, C, R>& value<T, C, R>::assign(X const& x) {
  using From = detail::bottom_t<X>;
  if constexpr (
      std::is_same_v<detail::stack_of_t<X>, stack_type> && std::is_arithmetic_v<From> &&
      !std::is_same_v<From, detail::bottom_t<T>>)
    return *this = detail::cast<detail::bottom_t<T>>(x);
  else
    return *this = x;
}

template <class T, class C, class R>
template <class From>
requires detail::converts_value<From, T, C, R>
constexpr value<T, C, R>::value(From const& x) : value(detail::cast<detail::bottom_t<T>>(x)) {}

template <class T, class C, class R>
template <detail::constant_of<detail::bottom_t<T>> U>
constexpr value<T, C, R>::value(U constant)
    : value(detail::constant_value<value>(detail::converted_constant<detail::bottom_t<T>>(constant))) {}

} // namespace overdub::values

namespace overdub::detail {
template <class V, class N>
constexpr V constant_value(N const& number) {
  return wrap(null_stack<typename V::stack_type>::make(), number);
}
} // namespace overdub::detail
