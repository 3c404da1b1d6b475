// The operation code of each primitive of the table ops.def, and the types of the operation's operands.
#pragma once

#include <overdub/call/lowered.hpp>
#include <overdub/call/ops.hpp>
#include <overdub/ir/op.hpp>
#include <overdub/stage/symbol.hpp>

#include <type_traits>
#include <utility>

namespace overdub::detail {

// The operation code of a primitive.
template <class F>
inline constexpr ir::op op_code = ir::op::none;
#define OVERDUB_UNARY(NAME, ...)                                                                             \
  template <>                                                                                                \
  inline constexpr ir::op op_code<NAME##_t> = ir::op::NAME;
#define OVERDUB_BINARY(NAME, ...) OVERDUB_UNARY(NAME)
#define OVERDUB_TERNARY(NAME, ...) OVERDUB_UNARY(NAME)
#include <overdub/core/ops.def>

// A function that combines values by an operation whose code is known at run time.
template <class F>
concept names_operation = requires(F const& f) {
  requires std::is_same_v<decltype(f.operation), ir::op>;
};
template <class F>
constexpr auto const& given_of(F const& f) {
  return f;
}
template <class S, class F, view V>
constexpr auto const& given_of(lowered<S, F, V> const& f) {
  return given_of(f.f);
}

template <class Op, class... T>
using computed_t = std::remove_cvref_t<decltype(std::declval<Op const&>().compute(std::declval<T>()...))>;

} // namespace overdub::detail
