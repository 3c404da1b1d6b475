// The handlers of operations in lanes, by operation, type and variant. Only sources that emit them include the tables, which
// instantiate all.
#pragma once

#include <overdub/implementation/execute/lane_handlers.hpp>

#include <array>

namespace overdub::execute {

/// By operation, type and variant.
OVERDUB_HIDDEN inline constexpr auto lane_handlers =
    table_of([]<class Op>() { return for_each_type([]<class T>() { return lane_variants_of<Op, T>(); }); });

/// From the first type to the second.
OVERDUB_HIDDEN inline constexpr auto lane_convert_handlers = for_each_type([]<class From>() {
  return for_each_type([]<class To>() -> handler { return &doing<lane_convert<From, To>>::run; });
});

/// Fused pairs.
OVERDUB_HIDDEN inline constexpr std::array lane_fused_rows{
    lane_fused_row_of<operation::mul, operation::add, side::left>(),
    lane_fused_row_of<operation::mul, operation::sub, side::left>(),
    lane_fused_row_of<operation::mul, operation::sub, side::right>(),
    lane_fused_row_of<operation::sub, operation::mul, side::left>()};

} // namespace overdub::execute
