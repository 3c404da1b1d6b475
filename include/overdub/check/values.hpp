// Abstract values: numbers by intervals, arrays by their lengths and one set for all elements, functions by their callee.
#pragma once

#include <overdub/check/integers.hpp>
#include <overdub/check/reals.hpp>
#include <overdub/io/number_text.hpp>
#include <overdub/ir/program.hpp>

#include <bit>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
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
inline number any_number(ir::type t) {
  switch (t.element) {
  case ir::scalar::f32:
  case ir::scalar::f64:
    return number::of(reals::any());
  case ir::scalar::i64:
    return number::of(integers::any());
  case ir::scalar::boolean:
    return number::of(bools::any());
  default:
    return number::any(); // unknown
  }
}
inline abstract anything(ir::type t) {
  return {t, any_number(t), std::vector<integers>(t.rank, integers::sizes()), nullptr};
}
inline abstract scalar_of(ir::type t, number const& x) { return {t, x, {}, nullptr}; }

/// A literal, by its bits.
inline abstract literal_of(ir::type t, std::uint64_t bits) {
  switch (t.element) {
  case ir::scalar::f32:
    return scalar_of(t, number::of(reals::only(std::bit_cast<float>(static_cast<std::uint32_t>(bits)))));
  case ir::scalar::f64:
    return scalar_of(t, number::of(reals::only(std::bit_cast<double>(bits))));
  case ir::scalar::i64:
    return scalar_of(t, number::of(integers::only(static_cast<int64_t>(bits))));
  default:
    return scalar_of(t, number::of(bools::only(bits != 0)));
  }
}

inline number join(number const& x, number const& y) {
  return {
      join(x.real, y.real),
      join(x.whole, y.whole),
      {x.boolean.may_be_false || y.boolean.may_be_false, x.boolean.may_be_true || y.boolean.may_be_true}};
}
inline bool is_within(number const& x, number const& y) {
  return is_within(x.real, y.real) && is_within(x.whole, y.whole) &&
         x.boolean.may_be_false <= y.boolean.may_be_false && x.boolean.may_be_true <= y.boolean.may_be_true;
}

inline bool is_within(abstract const& x, abstract const& y);
inline abstract join(abstract const& x, abstract const& y) {
  abstract r = x;
  r.element = join(x.element, y.element);
  for (std::size_t i = 0; i < r.lengths.size(); ++i) r.lengths[i] = join(x.lengths[i], y.lengths[i]);
  bool same = x.calls == y.calls;
  if (!same && x.calls && y.calls && x.calls->callee == y.calls->callee) {
    same = true;
    for (std::size_t i = 0; i < x.calls->captured.size(); ++i)
      same = same && is_within(y.calls->captured[i], x.calls->captured[i]);
  }
  if (!same) r.calls = nullptr;
  return r;
}
inline bool is_within(abstract const& x, abstract const& y) {
  if (!is_within(x.element, y.element)) return false;
  for (std::size_t i = 0; i < x.lengths.size(); ++i)
    if (!is_within(x.lengths[i], y.lengths[i])) return false;
  if (y.calls == nullptr || x.calls == y.calls) return true;
  if (x.calls == nullptr || x.calls->callee != y.calls->callee) return false;
  for (std::size_t i = 0; i < x.calls->captured.size(); ++i)
    if (!is_within(x.calls->captured[i], y.calls->captured[i])) return false;
  return true;
}

namespace detail {
// The next threshold for widening, so that bounds stabilise after few steps.
inline double lower(double x) { return x >= 1 ? 1 : x >= 0 ? 0 : x >= -1 ? -1 : -infinity; }
inline double upper(double x) { return -lower(-x); }
inline int64_t lower(int64_t x) { return x >= 1 ? 1 : x >= 0 ? 0 : x >= -1 ? -1 : integers::minimum; }
inline int64_t upper(int64_t x) { return x <= -1 ? -1 : x <= 0 ? 0 : x <= 1 ? 1 : integers::maximum; }
} // namespace detail

/// Widening: a superset of both; chains end after few steps.
inline reals widened(reals const& before, reals const& x) {
  reals r = join(before, x);
  if (r.low < before.low) r.low = detail::lower(r.low);
  if (r.high > before.high) r.high = detail::upper(r.high);
  return r;
}
inline integers widened(integers const& before, integers const& x) {
  integers r = join(before, x);
  if (r.low < before.low) r.low = detail::lower(r.low);
  if (r.high > before.high) r.high = detail::upper(r.high);
  if (r.from != before.from) r.from = {};
  if (r.to != before.to) r.to = {};
  return r;
}
inline abstract widened(abstract const& before, abstract const& x) {
  abstract r = join(before, x);
  r.element.real = widened(before.element.real, x.element.real);
  r.element.whole = widened(before.element.whole, x.element.whole);
  for (std::size_t i = 0; i < r.lengths.size(); ++i) r.lengths[i] = widened(before.lengths[i], x.lengths[i]);
  return r;
}

/// Drops bounds relative to symbols from this one on.
inline abstract before(abstract x, std::uint32_t symbol) {
  x.element.whole = x.element.whole.before(symbol);
  for (integers& length : x.lengths) length = length.before(symbol);
  if (x.calls)
    for (abstract const& c : x.calls->captured)
      if (c.type.rank > 0 || c.type.element == ir::scalar::i64 || c.calls) {
        auto copy = std::make_shared<known_closure>(*x.calls);
        for (abstract& captured : copy->captured) captured = before(captured, symbol);
        x.calls = std::move(copy);
        break;
      }
  return x;
}

/// A description: "in [0, 1]", "in [-1, inf] or NaN", "3".
inline std::string text_of(reals const& x) {
  auto const number = [](double v) { return io::number_text(v + 0.0, io::significant(6)); }; // 0 of -0
  if (!x.has_numbers()) return x.nan ? "NaN" : "nothing";
  std::string const text =
      x.low == x.high ? number(x.low) : "in [" + number(x.low) + ", " + number(x.high) + ']';
  return text + (x.nan ? " or NaN" : "");
}
inline std::string text_of(integers const& x) {
  bool const is_endless = x.high >= integers::sizes().high / 2; // includes lengths without a bound
  if (x.is_empty()) return "nothing";
  if (x.low == integers::minimum && x.high == integers::maximum) return "any integer";
  std::string const low = io::number_text(x.low), high = io::number_text(x.high);
  if (x.low == x.high) return low;
  if (is_endless) return "at least " + low;
  if (x.low == integers::minimum) return "at most " + high;
  return "in [" + low + ", " + high + ']';
}
inline std::string text_of(abstract const& x) {
  switch (x.type.element) {
  case ir::scalar::f32:
  case ir::scalar::f64:
    return text_of(x.element.real);
  case ir::scalar::i64:
    return text_of(x.element.whole);
  case ir::scalar::boolean:
    return x.element.boolean.is_empty()            ? "nothing"
           : x.element.boolean.is_certainly(true)  ? "true"
           : x.element.boolean.is_certainly(false) ? "false"
                                                   : "true or false";
  default:
    return "not known";
  }
}

} // namespace overdub::checking
