// Elementwise operations from core/ops.def: as types with a `compute`, which the interpreter's handlers inline, and as
// tables of function pointers, for operations that are library calls.
#pragma once

#include <overdub/call/callee.hpp>
#include <overdub/call/native.hpp>
#include <overdub/call/special_table.hpp>
#include <overdub/execute/instruction.hpp>
#include <overdub/ir/consistent.hpp>
#include <overdub/ir/op.hpp>
#include <overdub/ir/type.hpp>

#include <array>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <type_traits>

namespace overdub::execute {

// std::lerp without fused multiply-add: each step is rounded. The compiler may contract the library's, and change its bits.
template <std::floating_point T>
T lerp(T a, T b, T t) {
  if ((a <= 0 && b >= 0) || (a >= 0 && b <= 0)) return rounded(t * b) + rounded((1 - t) * a);
  if (t == 1) return b;
  T const r = a + rounded(t * (b - a));
  return (t > 1) == (b > a) ? (b < r ? r : b) : (b > r ? r : b);
}

namespace operation {

#define OVERDUB_OPERATION(NAME, KIND, TYPES, ...)                                                            \
  static constexpr ir::op code = ir::op::NAME;                                                               \
  static constexpr ir::type_rule rule = ir::type_rule::TYPES;                                                \
  /* Computed in the handler itself, and no call. */                                                         \
  static constexpr bool light = !std::is_base_of_v<kind::math, kind::KIND> || code == ir::op::sqrt;

#define OVERDUB_UNARY(NAME, KIND, TYPES, EFFECT, COST, TRAITS, NATIVE, TANGENT)                              \
  struct NAME {                                                                                              \
    OVERDUB_OPERATION(NAME, KIND, TYPES)                                                                     \
    static constexpr int arity = 1;                                                                          \
    template <class X>                                                                                       \
    [[gnu::always_inline]] static auto compute(X x) {                                                        \
      return NATIVE;                                                                                         \
    }                                                                                                        \
  };
#define OVERDUB_BINARY(NAME, KIND, TYPES, EFFECT, COST, TRAITS, NATIVE, TANGENT)                             \
  struct NAME {                                                                                              \
    OVERDUB_OPERATION(NAME, KIND, TYPES)                                                                     \
    static constexpr int arity = 2;                                                                          \
    template <class X, class Y>                                                                              \
    [[gnu::always_inline]] static auto compute(X x, Y y) {                                                   \
      return NATIVE;                                                                                         \
    }                                                                                                        \
  };
#define OVERDUB_TERNARY(NAME, KIND, TYPES, EFFECT, COST, TRAITS, NATIVE, TANGENT)                            \
  struct NAME {                                                                                              \
    OVERDUB_OPERATION(NAME, KIND, TYPES)                                                                     \
    static constexpr int arity = 3;                                                                          \
    template <class X, class Y, class Z>                                                                     \
    [[gnu::always_inline]] static auto compute(X x, Y y, Z z) {                                              \
      return NATIVE;                                                                                         \
    }                                                                                                        \
  };
#include <overdub/core/ops.def>
#undef OVERDUB_OPERATION

} // namespace operation

/// Whether all operands of an operation may have type T; of select, the second and the third. False for ldexp and polygamma.
template <class Op, class T>
inline constexpr bool takes = Op::rule == ir::type_rule::numeric      ? !std::is_same_v<T, bool>
                              : Op::rule == ir::type_rule::integer    ? std::is_same_v<T, i64>
                              : Op::rule == ir::type_rule::floating   ? std::is_floating_point_v<T>
                              : Op::rule == ir::type_rule::comparison ? true
                              : Op::rule == ir::type_rule::test       ? std::is_floating_point_v<T>
                              : Op::rule == ir::type_rule::logical    ? std::is_same_v<T, bool>
                                                                      : Op::rule == ir::type_rule::select;

static_assert(
    [] {
      for (std::size_t i = 1; i < ir::op_count; ++i)
        if (ir::row_of(static_cast<ir::op>(i)).elementwise &&
            !ir::row_of(static_cast<ir::op>(i - 1)).elementwise)
          return false;
      return true;
    }(),
    "overdub: core/ops.def: elementwise operations come before structural ones, since tables have entries "
    "for the former alone");

/// A table by operation: make<Op>() for elementwise ones, an entry of value zero for structural ones.
template <class Make>
constexpr auto table_of(Make make) {
  using entry = decltype(make.template operator()<operation::add>());
  return std::array<entry, ir::op_count>{
#define OVERDUB_UNARY(NAME, ...) make.template operator()<operation::NAME>(),
#define OVERDUB_BINARY(NAME, ...) make.template operator()<operation::NAME>(),
#define OVERDUB_TERNARY(NAME, ...) make.template operator()<operation::NAME>(),
#include <overdub/core/ops.def>
  };
}

// ---- functions of floating-point numbers, by ir::number_in(mode, operation); those of three operands by operation

/// A table with two entries for each operation: first those of the exact and fast modes, then those of the consistent mode.
template <class Make, class MakeConsistent>
constexpr auto table_of_modes(Make make, MakeConsistent make_consistent) {
  auto const exact = table_of(make), consistent = table_of(make_consistent);
  std::array<typename decltype(exact)::value_type, 2 * ir::op_count> all{};
  for (std::size_t i = 0; i < ir::op_count; ++i) {
    all[i] = exact[i];
    all[ir::op_count + i] = consistent[i];
  }
  return all;
}

template <class T>
T digamma(T x) {
  return std::is_same_v<T, double> ? static_cast<T>(detail::special.digamma_f64(static_cast<double>(x)))
                                   : static_cast<T>(detail::special.digamma_f32(static_cast<float>(x)));
}
template <class T>
T polygamma(i64 n, T x) {
  return std::is_same_v<T, double> ? static_cast<T>(detail::special.polygamma_f64(n, static_cast<double>(x)))
                                   : static_cast<T>(detail::special.polygamma_f32(n, static_cast<float>(x)));
}
template <class T>
T ldexp(T x, i64 n) {
  return native::ldexp(x, n);
}

template <class T>
using function1 = T (*)(T);
template <class T>
using function2 = T (*)(T, T);
template <class T>
using function3 = T (*)(T, T, T);

template <class Op, int Arity, class T>
inline constexpr bool is_function =
    !Op::light && Op::arity == Arity && Op::rule == ir::type_rule::floating && std::is_floating_point_v<T>;

template <class T>
OVERDUB_HIDDEN inline constexpr auto functions1 = table_of_modes(
    []<class Op>() -> function1<T> {
      if constexpr (Op::code == ir::op::digamma)
        return &digamma<T>;
      else if constexpr (is_function<Op, 1, T>)
        return [](T x) -> T { return Op::compute(x); };
      else
        return nullptr;
    },
    []<class Op>() -> function1<T> {
      if constexpr (is_function<Op, 1, T> && ir::is_elementary(Op::code))
        return [](T x) -> T { return ir::consistent->of<T>().one[static_cast<std::size_t>(Op::code)](x); };
      else
        return nullptr;
    });
/// The SLEEF function of a binary operation; null, if it has none.
template <class T>
inline constexpr auto consistent_function2 = []<class Op>() -> function2<T> {
  if constexpr (is_function<Op, 2, T> && ir::is_elementary(Op::code))
    return
        [](T x, T y) -> T { return ir::consistent->of<T>().two[static_cast<std::size_t>(Op::code)](x, y); };
  else
    return nullptr;
};
template <class T>
OVERDUB_HIDDEN inline constexpr auto functions2 = table_of_modes(
    []<class Op>() -> function2<T> {
      if constexpr (is_function<Op, 2, T>)
        return [](T x, T y) -> T { return Op::compute(x, y); };
      else
        return nullptr;
    },
    consistent_function2<T>);
template <class T>
OVERDUB_HIDDEN inline constexpr auto functions3 = table_of([]<class Op>() -> function3<T> {
  if constexpr (Op::code == ir::op::lerp)
    return &lerp<T>;
  else if constexpr (is_function<Op, 3, T>)
    return [](T x, T y, T z) -> T { return Op::compute(x, y, z); };
  else
    return nullptr;
});

} // namespace overdub::execute
