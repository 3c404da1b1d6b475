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
#define OVERDUB_STRUCTURAL(NAME, LEAST, MOST, REGIONS, TYPES, ...) TYPES,
#include <overdub/core/ops.def>
};

/// How values flow through the regions of an operation, as a set. `regions.hpp` interprets it for one operation.
enum class region_traits : std::uint8_t {
  none = 0,
  repeats = 1, // the regions run any number of times; without it, each runs at most once
  counted =
      2, // operand 0 is the trip count, and the first argument of the region is the index of the iteration
  carries = 4,  // the other operands are the initial loop-carried values; the last region is the body
  stacks = 8,   // a result that is not loop-carried is an array with one element for each iteration
  selects = 16, // operand 0 selects one of the regions, each of which yields the results
  accumulates =
      32,       // the operands are arrays, the arguments their accumulators, and the first results their sums
  combines = 64 // the arguments are two elements of each operand
};
constexpr region_traits operator|(region_traits a, region_traits b) {
  return static_cast<region_traits>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}

/// Algebraic properties of an element-wise operation, as a set.
enum class op_traits : std::uint8_t {
  inexact = 0,  // machines may round it differently
  exact = 1,    // exact, or correctly rounded: the same bits on all machines
  commutes = 2, // exchanging the two operands preserves the result to the bit, NaN payloads apart
  rounds = 4    // the result is integral, and an integral operand is the result
};
constexpr op_traits operator|(op_traits a, op_traits b) {
  return static_cast<op_traits>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}

/// The buffer of an array that an operation returns.
enum class array_result : std::uint8_t {
  other,   // no array; or one that an operand, a region or a callee decides
  fresh,   // a new one
  version, // that of operand 0, if this is its last use, else a copy of it
  part     // a part of that of operand 0
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
  op_traits traits;
  region_traits flow;
  array_result result;

  constexpr bool has(op_traits t) const {
    return (static_cast<unsigned>(traits) & static_cast<unsigned>(t)) != 0;
  }
  constexpr bool has(region_traits t) const {
    return (static_cast<unsigned>(flow) & static_cast<unsigned>(t)) != 0;
  }
};

namespace detail {

// The name in text: without the underscore that avoids a keyword of C++.
consteval std::string_view text_name(std::string_view name) {
  return name.ends_with('_') ? name.substr(0, name.size() - 1) : name;
}

inline constexpr std::uint32_t any = op_row::any;
consteval std::array<op_row, op_count> make_rows() {
  using enum region_traits;
  using enum op_traits;
  using enum array_result;
  return {{
#define OVERDUB_UNARY(NAME, KIND, TYPES, EFFECT, COST, TRAITS, ...)                                          \
  {#NAME, 1, 1, 0, type_rule::TYPES, effect::EFFECT, COST, true, TRAITS, none, other},
#define OVERDUB_BINARY(NAME, KIND, TYPES, EFFECT, COST, TRAITS, ...)                                         \
  {#NAME, 2, 2, 0, type_rule::TYPES, effect::EFFECT, COST, true, TRAITS, none, other},
#define OVERDUB_TERNARY(NAME, KIND, TYPES, EFFECT, COST, TRAITS, ...)                                        \
  {#NAME, 3, 3, 0, type_rule::TYPES, effect::EFFECT, COST, true, TRAITS, none, other},
#define OVERDUB_STRUCTURAL(NAME, LEAST, MOST, REGIONS, TYPES, EFFECT, COST, FLOW, RESULT)                    \
  {text_name(#NAME), LEAST, MOST, REGIONS, type_rule::TYPES, effect::EFFECT, COST, false, {}, FLOW, RESULT},
#include <overdub/core/ops.def>
  }};
}
OVERDUB_HIDDEN inline constexpr std::array<op_row, op_count> rows = make_rows();

} // namespace detail

/// The row of an operation. O(1).
constexpr op_row const& row_of(op code) { return detail::rows[static_cast<std::size_t>(code)]; }

/// The name of an operation in text.
constexpr std::string_view name_of(op code) { return code == op::none ? "none" : row_of(code).name; }

/// Whether an operation maps scalars to a scalar; all others are structural.
constexpr bool is_elementwise(op code) { return row_of(code).elementwise; }

/// The operand whose type is that of the numbers that an element-wise operation computes with: another one is a condition, or an exponent.
constexpr std::uint32_t main_operand(op code) {
  type_rule const rule = row_of(code).types;
  return rule == type_rule::select || rule == type_rule::integer_floating ? 1 : 0;
}

/// The operation of this name in text. O(operations): parsers use a table.
constexpr std::optional<op> op_of(std::string_view name) {
  for (std::size_t i = 0; i < op_count; ++i)
    if (detail::rows[i].name == name) return static_cast<op>(i);
  return {};
}

} // namespace overdub::ir
