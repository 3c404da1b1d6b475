// C++ operators and the functions of <cmath> on values. Argument-dependent lookup finds them, so that code for numbers also works on
// values: `using std::sqrt; sqrt(x)` as well as overdub::sqrt(x).
#pragma once

#include <overdub/call/ops.hpp>
#include <overdub/call/value.hpp>

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

// The named operations of the table, as functions of values.
#define OVERDUB_UNARY(NAME, KIND, TYPES, EFFECT, COST, NATIVE, TANGENT)                                      \
  template <class T, class C, class R>                                                                       \
  OVERDUB_INLINE constexpr auto NAME(value<T, C, R> const& x) {                                              \
    return detail::dispatch_elementwise(overdub::NAME, x);                                                   \
  }
#define OVERDUB_BINARY(NAME, KIND, TYPES, EFFECT, COST, NATIVE, TANGENT)                                     \
  template <class A, class B>                                                                                \
  requires operands<A, B> OVERDUB_INLINE constexpr auto NAME(A const& a, B const& b) {                       \
    return detail::dispatch_elementwise(overdub::NAME, a, b);                                                \
  }
#define OVERDUB_TERNARY(NAME, KIND, TYPES, EFFECT, COST, NATIVE, TANGENT)                                    \
  template <class A, class B, class D>                                                                       \
  requires(operands<A, B> || operands<B, D> || operands<A, D>) OVERDUB_INLINE constexpr auto NAME(           \
      A const& a, B const& b, D const& d) {                                                                  \
    return detail::dispatch_elementwise(overdub::NAME, a, b, d);                                             \
  }
#include <overdub/core/ops.def>

template <class T, class C, class R>
OVERDUB_INLINE constexpr auto fabs(value<T, C, R> const& x) {
  return overdub::abs(x);
}

template <class T, class C, class R>
template <class U>
requires detail::constant_of<U, T, C, R>
constexpr value<T, C, R>::value(U constant) : value(detail::wrap(stack_type{}, constant)) {}

} // namespace overdub::values
