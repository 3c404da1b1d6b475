// The operations of programs, and their rows in the table core/ops.def.
#pragma once

#include <overdub/core/config.hpp>
#include <overdub/core/effect.hpp>

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

namespace overdub::ir {

enum class op : std::uint16_t {
#define OVERDUB_UNARY(NAME, ...) NAME,
#define OVERDUB_BINARY(NAME, ...) NAME,
#define OVERDUB_TERNARY(NAME, ...) NAME,
#define OVERDUB_STRUCTURAL(NAME, ...) NAME,
#include <overdub/core/ops.def>
  none // the null operation
};

inline constexpr std::size_t op_count = static_cast<std::size_t>(op::none);

/// The inference rules of the table's type column (infer.hpp): operand types; result type.
enum class type_rule : std::uint8_t {
  numeric,          // numbers of one type; the same
  integer,          // i64; the same
  floating,         // floating-point numbers of one type; the same
  comparison,       // numbers or bools of one type; bool
  test,             // a floating-point number; bool
  logical,          // bool; bool
  select,           // bool, and two values of one type; the same
  integer_floating, // i64, and a floating-point number; the latter
  floating_integer, // a floating-point number, and i64; the former
// one for each structural operation
#define OVERDUB_STRUCTURAL(NAME, LEAST, MOST, REGIONS, TYPES, EFFECT, COST) TYPES,
#include <overdub/core/ops.def>
};

/// A row of the table.
struct op_row {
  static constexpr std::uint32_t any = std::numeric_limits<std::uint32_t>::max();

  std::string_view name; // in text
  std::uint32_t least;   // operands
  std::uint32_t most;
  std::uint32_t regions; // `any`: none or one
  type_rule types;
  effect effects;     // its own
  std::uint32_t cost; // in additions, its own
  bool elementwise;
};

namespace detail {

// The name in text: without the underscore that avoids a keyword of C++.
consteval std::string_view text_name(std::string_view name) {
  return name.ends_with('_') ? name.substr(0, name.size() - 1) : name;
}

inline constexpr std::uint32_t any = op_row::any;
OVERDUB_HIDDEN inline constexpr std::array<op_row, op_count> rows{{
#define OVERDUB_UNARY(NAME, KIND, TYPES, EFFECT, COST, ...)                                                  \
  {#NAME, 1, 1, 0, type_rule::TYPES, effect::EFFECT, COST, true},
#define OVERDUB_BINARY(NAME, KIND, TYPES, EFFECT, COST, ...)                                                 \
  {#NAME, 2, 2, 0, type_rule::TYPES, effect::EFFECT, COST, true},
#define OVERDUB_TERNARY(NAME, KIND, TYPES, EFFECT, COST, ...)                                                \
  {#NAME, 3, 3, 0, type_rule::TYPES, effect::EFFECT, COST, true},
#define OVERDUB_STRUCTURAL(NAME, LEAST, MOST, REGIONS, TYPES, EFFECT, COST)                                  \
  {text_name(#NAME), LEAST, MOST, REGIONS, type_rule::TYPES, effect::EFFECT, COST, false},
#include <overdub/core/ops.def>
}};

} // namespace detail

/// The row of an operation. O(1).
constexpr op_row const& row_of(op code) { return detail::rows[static_cast<std::size_t>(code)]; }

/// The name of an operation in text.
constexpr std::string_view name_of(op code) { return code == op::none ? "none" : row_of(code).name; }

/// Whether an operation maps scalars to a scalar; all others are structural.
constexpr bool is_elementwise(op code) { return row_of(code).elementwise; }

/// The operation of this name in text. O(operations): parsers use a table.
constexpr std::optional<op> op_of(std::string_view name) {
  for (std::size_t i = 0; i < op_count; ++i)
    if (detail::rows[i].name == name) return static_cast<op>(i);
  return {};
}

} // namespace overdub::ir
