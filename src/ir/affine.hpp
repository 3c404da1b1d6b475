// Numbers as affine functions of a counter, as the index of a loop is one: scale * counter + offset, where the scale and the offset are
// invariant, that is, the same for all values of the counter. An analysis of definitions: sums, differences, and products with an invariant
// factor. The pairs of offset and scale are the chains of recurrences of Bachmann, Wang and Zima (1994), of the first degree.
//
// The arithmetic is that of i64, modulo 2^64: the equation holds for all 64 bits, whichever operations overflow. So two numbers with one
// scale, and one value in the offset, differ if the literals of their offsets do. An order does not follow: a user that concludes that a
// number grows with the counter, or that all numbers between two ends are in range, must show that the ends do not overflow.
#pragma once

#include <overdub/core/function_view.hpp>
#include <overdub/ir/program.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace overdub::ir {

/// A number that is the same for all values of a counter.
struct invariant_number {
  value_id value = nothing; // a summand, if there is one
  std::int64_t literal = 0; // the other summand
  /// The number is computed of several values, and no sum of one value and a literal. Then both summands are meaningless.
  bool is_computed = false;

  bool is_literal() const { return value == nothing && !is_computed; }
  bool is_literal(std::int64_t x) const { return is_literal() && literal == x; }
  /// Whether the number is a value of the function.
  bool is_value() const { return value != nothing && literal == 0; }
  bool operator==(invariant_number const&) const = default;
};

/// scale * counter + offset, modulo 2^64.
struct affine {
  invariant_number scale, offset;

  static affine counter() { return {.scale = {.literal = 1}, .offset = {}}; }
  static affine invariant(value_id v) { return {.scale = {}, .offset = {.value = v}}; }
  /// Both the scale and the offset are invariant, and nothing else is known of them.
  static affine computed() { return {.scale = {.is_computed = true}, .offset = {.is_computed = true}}; }
  bool operator==(affine const&) const = default;
};

/// Asked for each number that an analysis visits: what it is, if that is known without the operation that defines it. It says what the
/// counter is, and which values are invariant.
using known_affine = overdub::detail::function_view<std::optional<affine>(value_id)>;

/// A number as an affine function. Nothing, if it is none, or if more than 64 operations define it. O(operations visited).
std::optional<affine> affine_of(function const& f, value_id v, known_affine known);

/// A number as a value plus a literal: before its sums and differences with literals. Never computed. O(operations visited).
invariant_number plus_literal(function const& f, value_id v);

/// "2 * counter + %n - 1", by the names of the printed function; a computed scale or offset is "...".
std::string text_of(affine const& x, program const& p, function const& f);

} // namespace overdub::ir
