// The rewrite rules of `simplify`, in one table, and the table indexed by operation. Each rule preserves results to the bit
// (except payloads of NaNs) and derivatives, also at kinks, drops no error, and never raises the cost. |-x| is not |x|: at 0, their
// derivatives are -1 and 1.
#pragma once

#include <overdub/implementation/pass/pattern.hpp>
#include <overdub/implementation/pass/structural_rules.hpp>

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace overdub::pass {

/// The types that a rule applies to: the type of its x.
enum class on : std::uint8_t {
  integers = 1,
  floats = 2,
  numbers = 3,
  bools = 4,
  discrete = 5,
  scalars = 7,
  all = 15
};

/// A rewrite rule, from a pattern to a pattern, or a function that rewrites.
struct rule {
  std::string_view left; // a pattern, or a description of the function
  std::string_view right;
  on types = on::all;
  op code = op::none;                          // of a function, the operation that it rewrites; or
  ir::op_traits of = {};                       // the property of the operations that it rewrites
  bool (*rewrite)(cursor&, node_id) = nullptr; // returns whether it changed something

  constexpr rule(std::string_view from, std::string_view to, on which)
      : left(from), right(to), types(which) {}
  constexpr rule(op rewritten, std::string_view definition, bool (*f)(cursor&, node_id))
      : left(definition), code(rewritten), rewrite(f) {}
  constexpr rule(ir::op_traits property, std::string_view definition, bool (*f)(cursor&, node_id))
      : left(definition), of(property), rewrite(f) {}

  /// Whether the function rewrites an operation.
  constexpr bool rewrites(op x) const { return x == code || ir::row_of(x).has(of); }
};

OVERDUB_HIDDEN inline constexpr rule rewrite_rules[] = {
    // sums; the identity is -0.0: 0.0 + -0.0 is 0.0, and -0.0 + -0.0 is -0.0
    {"(add x -0.0)", "x", on::floats},
    {"(add x 0)", "x", on::integers},
    {"(sub x 0)", "x", on::numbers},
    {"(sub -0.0 x)", "(neg x)", on::floats},
    {"(sub 0 x)", "(neg x)", on::integers},
    {"(add x (neg y))", "(sub x y)", on::numbers},
    {"(sub x (neg y))", "(add x y)", on::numbers},
    {"(neg (neg x))", "x", on::numbers},
    {"(neg (sub x y))", "(sub y x)", on::integers}, // x - x is 0.0 either way round
    {"(sub x x)", "0", on::integers},               // infinity - infinity is NaN
    {"(sub (add x y) y)", "x", on::integers},
    {"(add (sub x y) y)", "x", on::integers},
    // products
    {"(mul x 1)", "x", on::numbers},
    {"(mul x -1)", "(neg x)", on::numbers},
    {"(mul x 0)", "0", on::integers}, // -1 * 0.0 is -0.0
    {"(mul (neg x) (neg y))", "(mul x y)", on::numbers},
    {"(fma x 1 y)", "(add x y)", on::floats},
    {"(fma 1 x y)", "(add x y)", on::floats},
    {"(fma x y -0.0)", "(mul x y)", on::floats},
    {"(strong_mul 0 x)", "0", on::floats},
    {"(strong_mul -0.0 x)", "0", on::floats},
    {"(strong_mul 1 x)", "x", on::floats},
    {"(strong_mul -1 x)", "(neg x)", on::floats},
    // quotients
    {"(strong_div 0 x)", "0", on::floats},
    {"(strong_div -0.0 x)", "0", on::floats},
    {"(div x 1)", "x", on::numbers},
    {"(div x -1)", "(neg x)", on::numbers},
    {"(rem x 1)", "0", on::integers},
    {"(rem x -1)", "0", on::integers},
    {op::div, "x / 2^k is x * 2^-k", structural::divide_by_power},
    // sizes and signs
    {"(abs (neg x))", "(abs x)", on::integers},
    {"(abs (abs x))", "(abs x)", on::numbers},
    {"(copysign x x)", "x", on::floats},
    {"(min x x)", "x", on::numbers},
    {"(max x x)", "x", on::numbers},
    {"(fmin x x)", "x", on::floats},
    {"(fmax x x)", "x", on::floats},
    // comparisons; a NaN is not equal to itself
    {"(eq x x)", "true", on::discrete},
    {"(ne x x)", "false", on::discrete},
    {"(le x x)", "true", on::discrete},
    {"(ge x x)", "true", on::discrete},
    {"(lt x x)", "false", on::scalars},
    {"(gt x x)", "false", on::scalars},
    {"(eq x true)", "x", on::bools},
    {"(ne x false)", "x", on::bools},
    {"(eq x false)", "(logical_not x)", on::bools},
    {"(ne x true)", "(logical_not x)", on::bools},
    {"(logical_not (eq x y))", "(ne x y)", on::scalars},
    {"(logical_not (ne x y))", "(eq x y)", on::scalars},
    {"(logical_not (lt x y))", "(ge x y)", on::discrete},
    {"(logical_not (le x y))", "(gt x y)", on::discrete},
    {"(logical_not (gt x y))", "(le x y)", on::discrete},
    {"(logical_not (ge x y))", "(lt x y)", on::discrete},
    // bools
    {"(logical_not (logical_not x))", "x", on::bools},
    {"(logical_and x true)", "x", on::bools},
    {"(logical_and x false)", "false", on::bools},
    {"(logical_and x x)", "x", on::bools},
    {"(logical_and x (logical_not x))", "false", on::bools},
    {"(logical_or x true)", "true", on::bools},
    {"(logical_or x false)", "x", on::bools},
    {"(logical_or x x)", "x", on::bools},
    {"(logical_or x (logical_not x))", "true", on::bools},
    {"(select true x y)", "x", on::all},
    {"(select false x y)", "y", on::all},
    {"(select c x x)", "x", on::all},
    {"(select x true false)", "x", on::bools},
    {"(select x false true)", "(logical_not x)", on::bools},
    {"(select (logical_not c) x y)", "(select c y x)", on::all},
    // bitwise operations
    {"(bit_and x x)", "x", on::integers},
    {"(bit_and x 0)", "0", on::integers},
    {"(bit_and x -1)", "x", on::integers},
    {"(bit_or x x)", "x", on::integers},
    {"(bit_or x 0)", "x", on::integers},
    {"(bit_or x -1)", "-1", on::integers},
    {"(bit_xor x x)", "0", on::integers},
    {"(bit_xor x 0)", "x", on::integers},
    {"(bit_xor x -1)", "(bit_not x)", on::integers},
    {"(bit_not (bit_not x))", "x", on::integers},
    {"(shift_left x 0)", "x", on::integers},
    {"(shift_right x 0)", "x", on::integers},
    {"(ldexp x 0)", "x", on::floats},
    // operands that commute
    {ir::op_traits::commutes, "a literal is the last operand", structural::literal_last},
    // conversions and rounding
    {op::convert, "x converted to its own type is x, and so is x converted to a wider type and back",
     structural::convert},
    {ir::op_traits::rounds, "rounding an integral value returns it", structural::round},
    // arrays
    {op::length, "the length of an array comes from the operation that makes it", structural::length},
    {op::at, "an element of an array comes from the operation that makes the array", structural::at},
    {op::slice, "a slice of all elements is the array", structural::slice},
    {op::concat, "a slice without elements adds none", structural::concat},
    {op::update, "writing an element's own value changes nothing", structural::update},
    {op::reduce, "the reduction of one element is the element", structural::reduce},
    // control
    {op::if_, "a result that both branches yield is that value", structural::same_in_branches},
    {op::if_, "branches without operations are a select", structural::branch},
    {op::loop, "a loop-carried value that is loop-invariant is its initial value", structural::unchanged},
    {op::while_, "a loop-carried value that is loop-invariant is its initial value", structural::unchanged},
    {op::loop, "a loop that runs once is its body", structural::one_iteration},
    {op::map, "a map over one element is its body", structural::one_iteration},
    {op::accumulate, "an accumulator without additions is its initial array", structural::accumulate},
    {op::protect, "protect of a region without operations is removed", structural::protect},
    {op::apply, "applying a closure calls its function", structural::apply},
};

/// The rules, by the operation that they rewrite.
class rule_table {
public:
  struct entry {
    rule const* definition;
    pattern left; // of rules with patterns
    pattern right;
  };

  std::span<entry const> of(op code) const { return by_code_[static_cast<std::size_t>(code)]; }

  OVERDUB_HIDDEN static rule_table const& get() {
    static rule_table const table;
    return table;
  }

private:
  rule_table() : by_code_(ir::op_count) {
    for (rule const& definition : rewrite_rules) {
      if (definition.rewrite != nullptr) {
        for (std::size_t code = 0; code < ir::op_count; ++code)
          if (definition.rewrites(static_cast<op>(code)))
            by_code_[code].push_back({&definition, pattern("x"), pattern("x")});
        continue;
      }
      for (pattern const& left : pattern(definition.left).variants())
        by_code_[static_cast<std::size_t>(left.root().code)].push_back(
            {&definition, left, pattern(definition.right)});
    }
  }
  std::vector<std::vector<entry>> by_code_;
};

/// Whether a rule applies to values of this type.
constexpr bool applies_to(on types, type t) {
  auto const bits = static_cast<unsigned>(types);
  if (t == ir::i64) return (bits & 1) != 0;
  if (t.is_floating()) return (bits & 2) != 0;
  if (t == ir::boolean) return (bits & 4) != 0;
  return (bits & 8) != 0;
}

} // namespace overdub::pass
