// The abstract state of one call, and its refinement by conditions.
#pragma once

#include <overdub/check/values.hpp>
#include <overdub/core/floating_point.hpp>
#include <overdub/implementation/check/operations.hpp>
#include <overdub/ir/program.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace overdub::checking {

/// The sets of the values of a function call. Conditions refine values that are defined before them; `back_to` undoes
/// refinements.
class state {
public:
  state(ir::program const& p, ir::function_id called)
      : program(p), f(p[called]), id(called), values_(f.value_count()) {
    for (std::uint32_t i = 0; i < f.value_count(); ++i)
      if (ir::value_id const v{i}; f.is_literal(v)) values_[i] = literal_of(f.type_of(v), f.bits_of(v));
  }

  ir::program const& program;
  ir::function const& f;
  ir::function_id id;

  abstract const& operator[](ir::value_id v) const { return values_[index_of(v)]; }
  void set(ir::value_id v, abstract x) { values_[index_of(v)] = std::move(x); }

  /// The number of refinements so far, and undoing later ones.
  std::size_t mark() const { return refinements_.size(); }
  void back_to(std::size_t mark) {
    for (; refinements_.size() > mark; refinements_.pop_back())
      values_[index_of(refinements_.back().first)] = std::move(refinements_.back().second);
  }

  /// Assumes that a bool has this value. Returns false if that is impossible.
  bool assume(ir::value_id v, bool boolean) {
    bools const t = values_[index_of(v)].element.boolean;
    if (boolean ? !t.may_be_true : !t.may_be_false) return false;
    if (!t.is_certainly(boolean)) {
      abstract x = values_[index_of(v)];
      x.element.boolean = bools::only(boolean);
      learn(v, std::move(x));
    }
    if (!f.is_result(v)) return true;
    ir::node_id const n = f.node_of(v);
    using ir::op;
    switch (f[n].code) {
    case op::logical_not:
      return assume(f.operand(n, 0), !boolean);
    case op::logical_and:
      return !boolean || (assume(f.operand(n, 0), true) && assume(f.operand(n, 1), true));
    case op::logical_or:
      return boolean || (assume(f.operand(n, 0), false) && assume(f.operand(n, 1), false));
    case op::isnan:
    case op::isinf:
    case op::isfinite:
      return assume_kind(f[n].code, f.operand(n, 0), boolean);
    case op::eq:
    case op::ne:
    case op::lt:
    case op::le:
    case op::gt:
    case op::ge:
      return assume_comparison(f[n].code, f.operand(n, 0), f.operand(n, 1), boolean);
    default:
      return true;
    }
  }

  /// Assumes that an integer, or a length, is in this set. Returns false if that is impossible.
  bool narrow(ir::value_id v, integers const& to, int depth = 0) {
    abstract const& x = values_[index_of(v)];
    integers const m = meet(x.element.whole, to);
    if (m.is_empty()) return false;
    if (m == x.element.whole) return true;
    abstract narrowed = x;
    narrowed.element.whole = m;
    learn(v, std::move(narrowed));
    return depth > 4 || !f.is_result(v) || narrow_operands(f.node_of(v), m, depth + 1);
  }
  bool narrow(ir::value_id v, reals const& to, int depth = 0) {
    abstract const& x = values_[index_of(v)];
    reals const m = meet(x.element.real, to);
    if (m.is_empty()) return false;
    if (m == x.element.real) return true;
    abstract narrowed = x;
    narrowed.element.real = m;
    learn(v, std::move(narrowed));
    return depth > 4 || !f.is_result(v) || narrow_operands(f.node_of(v), m, depth + 1);
  }
  /// The same for the length of an array along an axis.
  bool narrow_length(ir::value_id array, std::size_t axis, integers const& to) {
    abstract const& x = values_[index_of(array)];
    integers const m = meet(x.lengths[axis], to);
    if (m.is_empty()) return false;
    if (m == x.lengths[axis]) return true;
    abstract narrowed = x;
    narrowed.lengths[axis] = m;
    learn(array, std::move(narrowed));
    return true;
  }

  /// Sets the length.
  void set_length(ir::value_id array, std::size_t axis, integers const& to) {
    abstract x = values_[index_of(array)];
    x.lengths[axis] = to;
    learn(array, std::move(x));
  }

private:
  void learn(ir::value_id v, abstract x) {
    refinements_.emplace_back(v, std::exchange(values_[index_of(v)], std::move(x)));
  }
  bool is_f32(ir::value_id v) const { return f.type_of(v) == ir::f32; }
  double next(ir::value_id v, double x, double towards) const {
    if (is_f32(v)) return std::nextafter(static_cast<float>(x), static_cast<float>(towards));
    return std::nextafter(x, towards);
  }

  bool assume_kind(ir::op code, ir::value_id v, bool boolean) {
    reals const& x = values_[index_of(v)].element.real;
    constexpr double largest = std::numeric_limits<double>::max();
    reals const finite = reals::of(
        is_f32(v) ? -static_cast<double>(std::numeric_limits<float>::max()) : -largest,
        is_f32(v) ? static_cast<double>(std::numeric_limits<float>::max()) : largest);
    if (code == ir::op::isnan) return narrow(v, boolean ? reals::only_nan() : reals::of(-infinity, infinity));
    if (code == ir::op::isfinite && boolean) return narrow(v, finite);
    if (code == ir::op::isinf && !boolean) return narrow(v, finite.with_nan(true));
    if (code == ir::op::isinf && x.low > -infinity) return narrow(v, reals::only(infinity));
    return true;
  }

  // Refines operands by the result of a comparison.
  bool assume_comparison(ir::op code, ir::value_id a, ir::value_id b, bool boolean) {
    using ir::op;
    ir::type const t = f.type_of(a);
    if (!t.is_number() || a == b) return true;
    bool const opposite = !boolean;
    if (opposite) // or one operand is NaN
      code = code == op::eq   ? op::ne
             : code == op::ne ? op::eq
             : code == op::lt ? op::ge
             : code == op::le ? op::gt
             : code == op::gt ? op::le
                              : op::lt;
    if (code == op::gt || code == op::ge) {
      std::swap(a, b);
      code = code == op::gt ? op::lt : op::le;
    }
    if (t == ir::i64)
      return code == op::eq || code == op::ne ? narrow_equal(code, a, b) : narrow_order(code, a, b);
    // `ne` holds for NaN, and so do the opposites of `lt` and `le`.
    bool const nan = code == op::ne || (code != op::eq && opposite);
    return narrow_reals(code, a, b, nan);
  }
  bool narrow_reals(ir::op code, ir::value_id a, ir::value_id b, bool nan) {
    using ir::op;
    reals const x = values_[index_of(a)].element.real, y = values_[index_of(b)].element.real;
    // If the other operand is NaN, nothing is known.
    reals of_a = reals::of(-infinity, infinity, nan), of_b = of_a;
    if (code == op::eq) {
      of_a = y.without_nan();
      of_b = x.without_nan();
      return narrow(a, of_a.of_integers(false)) && narrow(b, of_b.of_integers(false));
    }
    if (code == op::ne) {
      auto const without = [&](ir::value_id v, reals r, reals const& other) {
        if (other.nan || other.low != other.high) return r;
        reals const& self = values_[index_of(v)].element.real;
        if (self.low == other.low) r.low = next(v, self.low, infinity);
        if (self.high == other.low) r.high = next(v, self.high, -infinity);
        return r;
      };
      return narrow(a, without(a, of_a, y)) && narrow(b, without(b, of_b, x));
    }
    if (!(nan && y.nan) && y.has_numbers()) {
      of_a.high = code == op::lt ? next(a, y.high, -infinity) : y.high;
      if (code == op::lt && y.high == -infinity) of_a = reals{}.with_nan(nan);
    }
    if (!(nan && x.nan) && x.has_numbers()) {
      of_b.low = code == op::lt ? next(b, x.low, infinity) : x.low;
      if (code == op::lt && x.low == infinity) of_b = reals{}.with_nan(nan);
    }
    return narrow(a, of_a) && narrow(b, of_b);
  }
  bool narrow_equal(ir::op code, ir::value_id a, ir::value_id b) {
    integers const x = values_[index_of(a)].element.whole, y = values_[index_of(b)].element.whole;
    if (code == ir::op::eq) return narrow(a, y) && narrow(b, x);
    auto const without = [](integers r, integers const& other) {
      if (other.low != other.high) return r;
      if (r.low == other.low) ++r.low;
      if (r.high == other.low) --r.high;
      return r;
    };
    if (x.low == x.high && y.is_only(x.low)) return false;
    return narrow(a, without(x, y)) && narrow(b, without(y, x));
  }
  bool narrow_order(ir::op code, ir::value_id a, ir::value_id b) { // a < b, or a <= b
    integers const x = values_[index_of(a)].element.whole, y = values_[index_of(b)].element.whole;
    int64_t const step = code == ir::op::lt ? 1 : 0;
    if ((step && (y.high == integers::minimum || x.low == integers::maximum)) || is_less(y, x)) return false;
    integers const of_a{integers::minimum, y.high - step, {}, detail::moved(y.to, -step)};
    integers const of_b{x.low + step, integers::maximum, detail::moved(x.from, step), {}};
    return narrow(a, of_a) && narrow(b, of_b);
  }

  // Refines the operands of an operation by its result.
  bool narrow_operands(ir::node_id n, integers const& r, int depth) {
    using ir::op;
    auto const of = [&](std::uint32_t i) { return values_[index_of(f.operand(n, i))].element.whole; };
    switch (f[n].code) {
    case op::add:
    case op::sub: {
      integers const x = of(0), y = of(1);
      integers const direct = f[n].code == op::add ? add(x, y) : sub(x, y);
      if (direct.low == integers::minimum && direct.high == integers::maximum) return true; // it may wrap
      if (f[n].code == op::add)
        return narrow(f.operand(n, 0), sub(r, y), depth) && narrow(f.operand(n, 1), sub(r, x), depth);
      return narrow(f.operand(n, 0), add(r, y), depth) && narrow(f.operand(n, 1), sub(x, r), depth);
    }
    case op::length: {
      for (ir::value_id const array : f.operands_of(n))
        if (!narrow_length(array, 0, r)) return false;
      return true;
    }
    default:
      return true;
    }
  }
  bool narrow_operands(ir::node_id n, reals const& r, int depth) {
    using ir::op;
    ir::value_id const first = f.operand(n, 0);
    switch (f[n].code) {
    case op::neg:
      return narrow(first, negated(r), depth);
    case op::abs:
      return narrow(first, reals::of(-r.high, r.high, r.nan), depth);
    case op::add:
    case op::sub: {
      if (f.operand(n, 0) == f.operand(n, 1) || r.nan) return true;
      ir::value_id const second = f.operand(n, 1);
      reals const x = values_[index_of(first)].element.real, y = values_[index_of(second)].element.real;
      bool const adds = f[n].code == op::add;
      // x = r - y, or r + y, over the numbers that round to r.
      auto const narrow_by = [&](ir::value_id v, reals const& other, bool negate) {
        double const low = next(v, next(v, r.low, -infinity) - other.high, -infinity);
        double const high = next(v, next(v, r.high, infinity) - other.low, infinity);
        if (other.nan || !overdub::is_finite(other.low) || !overdub::is_finite(other.high)) return true;
        return narrow(v, negate ? reals::of(-high, -low) : reals::of(low, high), depth);
      };
      if (adds) return narrow_by(first, y, false) && narrow_by(second, x, false);
      return narrow_by(first, negated(y), false) && narrow_by(second, x, true);
    }
    case op::convert: {
      if (r.nan || f.type_of(first) != ir::i64 || magnitude(r).high > 0x1p50) return true;
      if (is_f32(f.result(n)) && magnitude(r).high > 0x1p20) return true;
      return narrow(
          first,
          integers::of(static_cast<int64_t>(std::ceil(r.low)), static_cast<int64_t>(std::floor(r.high))),
          depth);
    }
    default:
      return true;
    }
  }

  std::vector<abstract> values_;
  std::vector<std::pair<ir::value_id, abstract>> refinements_;
};

} // namespace overdub::checking
