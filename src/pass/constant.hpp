// Constant folding: evaluates an operation on literals by its native implementation in ops.def, if its result has the same bits
// on all machines. In the math mode `consistent` this includes the elementary functions.
#pragma once

#include <overdub/call/native.hpp>
#include <overdub/ir/consistent.hpp>
#include <overdub/ir/literal_bits.hpp>
#include <overdub/pass/ir_names.hpp>

#include <cmath>
#include <concepts>
#include <cstdint>
#include <optional>
#include <type_traits>

namespace overdub::pass {
namespace detail {

using ir::op_row;
using ir::scalar;
using ir::type_rule;

// Returns no value for a NaN, whose bits differ between machines.
template <class T>
std::optional<std::uint64_t> to_bits(T x) {
  if constexpr (std::floating_point<T>)
    if (is_nan(x)) return {};
  return ir::bits_of_number(x);
}

template <class T>
consteval bool takes(type_rule rule) {
  switch (rule) {
  case type_rule::numeric:
    return !std::same_as<T, bool>;
  case type_rule::integer:
    return std::same_as<T, std::int64_t>;
  case type_rule::floating:
  case type_rule::test:
  case type_rule::floating_integer:
    return std::floating_point<T>;
  case type_rule::comparison:
    return true;
  case type_rule::logical:
    return std::same_as<T, bool>;
  default:
    return false;
  }
}

// The result for operands of type T; no value if the operation does not accept them, or is not exact.
template <class T>
std::optional<std::uint64_t> computed(op code, T x, T y, T z) {
  (void)y, (void)z;
  using std::int64_t;
  switch (code) {
#define OVERDUB_UNARY(NAME, KIND, TYPES, EFFECT, COST, TRAITS, NATIVE, TANGENT)                              \
  case op::NAME:                                                                                             \
    if constexpr (ir::row_of(op::NAME).has(ir::op_traits::exact) && takes<T>(type_rule::TYPES))              \
      return to_bits(NATIVE);                                                                                \
    break;
#define OVERDUB_BINARY(NAME, KIND, TYPES, EFFECT, COST, TRAITS, NATIVE, TANGENT)                             \
  case op::NAME:                                                                                             \
    if constexpr (ir::row_of(op::NAME).has(ir::op_traits::exact) && takes<T>(type_rule::TYPES))              \
      return to_bits(NATIVE);                                                                                \
    break;
#define OVERDUB_TERNARY(NAME, KIND, TYPES, EFFECT, COST, TRAITS, NATIVE, TANGENT)                            \
  case op::NAME:                                                                                             \
    if constexpr (ir::row_of(op::NAME).has(ir::op_traits::exact) && takes<T>(type_rule::TYPES))              \
      return to_bits(NATIVE);                                                                                \
    break;
#include <overdub/core/ops.def>
  default:
    break;
  }
  return {};
}

// Evaluates an elementary function in the math mode `consistent`.
inline std::optional<std::uint64_t> consistent_constant(op code, type t, std::uint64_t a, std::uint64_t b) {
  auto const result = [&]<class T>(T) {
    auto const& all = ir::consistent->of<T>();
    auto const i = static_cast<std::size_t>(code);
    T const x = ir::number_of_bits<T>(a);
    return to_bits(all.one[i] != nullptr ? all.one[i](x) : all.two[i](x, ir::number_of_bits<T>(b)));
  };
  return t == ir::f32 ? result(float{}) : result(double{});
}

template <class F>
std::optional<std::uint64_t> on_numbers_of(type t, F f) {
  if (t == ir::f64) return f(double{});
  if (t == ir::i64) return f(std::int64_t{});
  if (t == ir::f32) return f(float{});
  if (t == ir::boolean) return f(bool{});
  return {};
}

} // namespace detail

/// Returns the bits of the result of an operation on literals. Returns no value if an operand is not a literal, if the operation throws or
/// is not exact, or if the result is a NaN or depends on a NaN's sign. O(1).
inline std::optional<std::uint64_t> constant(function const& f, node_id n, ir::math_mode math) {
  function::node const& node = f[n];
  if (node.operand_count == 0 || node.operand_count > 3 || node.result_count != 1 || node.region_count != 0)
    return {};
  for (value_id const v : f.operands_of(n))
    if (!f.is_literal(v)) return {};
  auto bits = [&](std::uint32_t i) { return f.bits_of(f.operand(n, i < node.operand_count ? i : 0)); };
  type const t = f.type_of(f.operand(n, 0));
  if (node.code == op::select) return bits(bits(0) != 0 ? 1 : 2);
  if (node.code == op::convert)
    return detail::on_numbers_of(t, [&](auto from) {
      return detail::on_numbers_of(f.type_of(f.result(n)), [&](auto to) {
        return detail::to_bits(native::convert<decltype(to)>(ir::number_of_bits<decltype(from)>(bits(0))));
      });
    });
  if (math == ir::math_mode::consistent && ir::consistent != nullptr && ir::is_elementary(node.code))
    return detail::consistent_constant(node.code, t, bits(0), bits(1));
  if (!ir::is_elementwise(node.code) || !ir::row_of(node.code).has(ir::op_traits::exact)) return {};
  return detail::on_numbers_of(t, [&](auto zero) -> std::optional<std::uint64_t> {
    using T = decltype(zero);
    T const x = ir::number_of_bits<T>(bits(0));
    if constexpr (std::floating_point<T>) {
      if (node.code == op::ldexp)
        return detail::to_bits(native::ldexp(x, static_cast<std::int64_t>(bits(1))));
      T const last = ir::number_of_bits<T>(bits(node.operand_count - 1));
      if ((node.code == op::signbit || node.code == op::copysign) && is_nan(last)) return {};
    }
    if ((node.code == op::div || node.code == op::rem) && t == ir::i64 && bits(1) == 0) return {};
    return detail::computed<T>(node.code, x, ir::number_of_bits<T>(bits(1)), ir::number_of_bits<T>(bits(2)));
  });
}

} // namespace overdub::pass
