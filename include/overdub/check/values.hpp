// Abstract values: numbers by intervals, arrays by their lengths and one set for all elements, functions by their callee.
#pragma once

#include <overdub/check/integers.hpp>
#include <overdub/check/reals.hpp>
#include <overdub/core/library.hpp>
#include <overdub/io/number_text.hpp>
#include <overdub/ir/program.hpp>

#include <memory>
#include <string>
#include <vector>

namespace overdub::checking {

/// A set of bools.
struct bools {
  bool may_be_false = false;
  bool may_be_true = false;

  static constexpr bools any() { return {true, true}; }
  static constexpr bools only(bool x) { return {!x, x}; }
  constexpr bool operator==(bools const&) const = default;
  constexpr bool is_empty() const { return !may_be_false && !may_be_true; }
  constexpr bool is_certainly(bool x) const {
    return x ? may_be_true && !may_be_false : may_be_false && !may_be_true;
  }
};

/// A set of scalars; the member of the value's type applies.
struct number {
  reals real;
  integers whole;
  bools boolean;

  static number nothing() { return {}; }
  static number any() { return {reals::any(), integers::any(), bools::any()}; }
  static number of(reals const& x) { return {x, {}, {}}; }
  static number of(integers const& x) { return {{}, x, {}}; }
  static number of(bools x) { return {{}, {}, x}; }
  bool operator==(number const&) const = default;
  bool is_empty() const { return real.is_empty() && whole.is_empty() && boolean.is_empty(); }
};

struct abstract;

/// A function value: a callee and its captures.
struct known_closure {
  ir::function_id callee;
  std::vector<abstract> captured;
  int depth = 1; // the nesting depth of captured functions
};

/// An abstract value.
struct abstract {
  ir::type type;
  number element;                               // the number, or all elements of the array
  std::vector<integers> lengths;                // of an array, along each axis
  std::shared_ptr<known_closure const> calls{}; // of a function value; null: any function

  bool is_floating() const { return type.element == ir::scalar::f32 || type.element == ir::scalar::f64; }
};

/// All values of this type.
number any_number(ir::type t);
abstract anything(ir::type t);
inline abstract scalar_of(ir::type t, number const& x) { return {t, x, {}, nullptr}; }

/// A literal, by its bits.
abstract literal_of(ir::type t, std::uint64_t bits);

number join(number const& x, number const& y);
bool is_within(number const& x, number const& y);

abstract join(abstract const& x, abstract const& y);
bool is_within(abstract const& x, abstract const& y);

/// Widening: a superset of both; chains end after few steps.
reals widened(reals const& before, reals const& x);
integers widened(integers const& before, integers const& x);
abstract widened(abstract const& before, abstract const& x);

/// Drops bounds relative to symbols from this one on.
abstract before(abstract x, std::uint32_t symbol);

/// A description: "in [0, 1]", "in [-1, inf] or NaN", "3".
std::string text_of(reals const& x);
std::string text_of(integers const& x);
std::string text_of(abstract const& x);

} // namespace overdub::checking
