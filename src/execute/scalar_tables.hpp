// The tables of the handlers of scalar instructions, by operation, type and variant. This header instantiates all handlers, so that
// only sources that emit scalar instructions include it.
#pragma once

#include <overdub/implementation/execute/control_handlers.hpp>
#include <overdub/implementation/execute/scalar_handlers.hpp>

#include <array>

namespace overdub::execute {

/// The handlers of operations, by operation, type and variant.
OVERDUB_HIDDEN inline constexpr auto scalar_handlers =
    table_of([]<class Op>() { return for_each_type([]<class T>() { return variants_of<Op, T>(); }); });

/// The handlers of fused pairs of operations.
OVERDUB_HIDDEN inline constexpr std::array fused_rows{
#define OVERDUB_FUSED(FIRST, SECOND, SIDE) fused_row_of<operation::FIRST, operation::SECOND, side::SIDE>(),
#include <overdub/execute/fused.def>
};

/// The handlers that load an element of an array of rank 1, by type and variant.
OVERDUB_HIDDEN inline constexpr auto load_handlers =
    for_each_type([]<class T>() { return load_variants<T>(); });
/// The handlers that load an element of an array of rank 2, by type.
OVERDUB_HIDDEN inline constexpr auto load2_handlers =
    for_each_type([]<class T>() -> handler { return &load2<T>::run; });
/// The handlers of fused pairs whose first operation loads an element.
OVERDUB_HIDDEN inline constexpr std::array fused_load_rows{
#define OVERDUB_FUSED_AT(SECOND, SIDE) fused_load_row_of<operation::SECOND, side::SIDE>(),
#include <overdub/execute/fused.def>
};

/// The handlers of conversions, by source and target type.
OVERDUB_HIDDEN inline constexpr auto convert_handlers = for_each_type([]<class From>() {
  return for_each_type([]<class To>() -> handler { return &converting<From, To>::run; });
});

/// The handlers of jump_unless_compared: by operation, type (i64, double) and variant (register_a, register_b).
OVERDUB_HIDDEN inline constexpr auto jump_handlers = table_of([]<class Op>() {
  auto const all = []<class T>() -> std::array<handler, 4> {
    if constexpr (Op::rule == ir::type_rule::comparison)
      return {
          &jump_unless_compared<Op, T, source::frame, source::frame>::run,
          &jump_unless_compared<Op, T, source::in_register, source::frame>::run,
          &jump_unless_compared<Op, T, source::frame, source::in_register>::run, nullptr};
    else
      return {};
  };
  return std::array{all.template operator()<i64>(), all.template operator()<double>()};
});

} // namespace overdub::execute
