// The adjoints of element-wise operations, from the rows of core/ops.def that also define their tangents: the last column of
// a row is evaluated with terms and linear functions of the tangents, and the resulting linear function is transposed.
#pragma once

#include <overdub/call/zero.hpp>
#include <overdub/ir/cursor.hpp>

#include <array>
#include <concepts>
#include <cstdint>
#include <memory>
#include <utility>

namespace overdub::adjoint {

using ir::op;
using ir::value_id;

/// A scalar in a formula: a value of the program, or a constant, which adopts the type of the other operand.
class term {
public:
  term(ir::cursor& at, value_id v) : at_(&at), value_(v) {}
  template <class T>
  requires std::is_arithmetic_v<T> term(T constant) : constant_(static_cast<double>(constant)) {}

  bool is_constant() const { return at_ == nullptr; }
  ir::cursor& where() const { return *at_; }
  ir::type type() const { return (*at_)->type_of(value_); }
  /// The value; a constant gets this type.
  value_id as(ir::cursor& at, ir::type t) const {
    if (!is_constant()) return value_;
    if (t == ir::i64) return at.literal(static_cast<std::int64_t>(constant_));
    if (t == ir::f32) return at.literal(static_cast<float>(constant_));
    if (t == ir::boolean) return at.literal(constant_ != 0);
    return at.literal(constant_);
  }
  value_id value() const { return value_; }

private:
  ir::cursor* at_ = nullptr;
  value_id value_ = ir::nothing;
  double constant_ = 0;
};

// An operation on terms, at least one of which is a value; constants get the type of the last value.
template <class... T>
term emit(op code, T const&... x) {
  ir::cursor* at = nullptr;
  ir::type t;
  ((x.is_constant() ? void() : (at = &x.where(), t = x.type(), void())), ...);
  return term(*at, at->add(code, x.as(*at, t)...));
}

/// A linear function of tangents: a small expression tree with shared nodes.
class linear {
public:
  enum class kind : std::uint8_t { tangent, negated, scaled, divided, sum, chosen };

  linear() = default; // zero
  linear(zero) {}
  static linear of_tangent(std::uint8_t operand) {
    return linear({.is = kind::tangent, .operand = operand, .by = 0.0});
  }
  bool is_zero() const { return root_ == nullptr; }

  friend linear operator-(linear const& a) {
    return a.is_zero() ? a : linear({.is = kind::negated, .by = 0.0, .left = a.root_});
  }
  friend linear operator+(linear const& a, linear const& b) {
    if (a.is_zero()) return b;
    if (b.is_zero()) return a;
    return linear({.is = kind::sum, .by = 0.0, .left = a.root_, .right = b.root_});
  }
  friend linear operator-(linear const& a, linear const& b) { return a + -b; }
  friend linear operator*(linear const& a, term const& by) {
    return a.is_zero() ? a : linear({.is = kind::scaled, .by = by, .left = a.root_});
  }
  friend linear operator*(term const& by, linear const& a) { return a * by; }
  friend linear operator/(linear const& a, term const& by) {
    return a.is_zero() ? a : linear({.is = kind::divided, .by = by, .left = a.root_});
  }
  /// a where the condition holds, else b.
  static linear chosen(term const& condition, linear const& a, linear const& b) {
    if (a.is_zero() && b.is_zero()) return a;
    return linear({.is = kind::chosen, .by = condition, .left = a.root_, .right = b.root_});
  }

  /// Transposes: calls give(operand, contribution) for each tangent, given the cotangent of the result.
  template <class Give>
  void transpose(term const& cotangent, Give const& give) const {
    if (root_) transpose(*root_, cotangent, give);
  }

private:
  struct node {
    kind is;
    std::uint8_t operand = 0;
    term by;
    std::shared_ptr<node const> left = nullptr, right = nullptr; // none: zero
  };
  explicit linear(node n) : root_(std::make_shared<node const>(std::move(n))) {}

  template <class Give>
  static void transpose(node const& n, term const& cotangent, Give const& give) {
    switch (n.is) {
    case kind::tangent:
      return give(n.operand, cotangent);
    case kind::negated:
      return transpose(*n.left, emit(op::neg, cotangent), give);
    case kind::scaled:
      return transpose(*n.left, emit(op::mul, cotangent, n.by), give);
    case kind::divided:
      return transpose(*n.left, emit(op::div, cotangent, n.by), give);
    case kind::sum:
      transpose(*n.left, cotangent, give);
      return transpose(*n.right, cotangent, give);
    case kind::chosen: {
      ir::cursor& at = cotangent.where();
      auto const choose = [&](term const& a, term const& b) {
        ir::type const t = cotangent.type();
        return term(at, at.add(op::select, n.by.as(at, ir::boolean), a.as(at, t), b.as(at, t)));
      };
      if (n.left) transpose(*n.left, choose(cotangent, 0.0), give);
      if (n.right) transpose(*n.right, choose(0.0, cotangent), give);
      return;
    }
    }
  }

  std::shared_ptr<node const> root_; // none: zero
};

/// The vocabulary of the table's last column, for terms.
namespace formula {

inline term operator-(term const& x) { return emit(op::neg, x); }
inline term operator+(term const& x, term const& y) { return emit(op::add, x, y); }
inline term operator-(term const& x, term const& y) { return emit(op::sub, x, y); }
inline term operator*(term const& x, term const& y) { return emit(op::mul, x, y); }
inline term operator/(term const& x, term const& y) { return emit(op::div, x, y); }
inline term operator<(term const& x, term const& y) { return emit(op::lt, x, y); }
inline term operator<=(term const& x, term const& y) { return emit(op::le, x, y); }
inline term operator>(term const& x, term const& y) { return emit(op::gt, x, y); }
inline term operator>=(term const& x, term const& y) { return emit(op::ge, x, y); }
inline term operator==(term const& x, term const& y) { return emit(op::eq, x, y); }
inline term operator!=(term const& x, term const& y) { return emit(op::ne, x, y); }
inline term operator&&(term const& x, term const& y) { return emit(op::logical_and, x, y); }
inline term operator||(term const& x, term const& y) { return emit(op::logical_or, x, y); }
inline term operator!(term const& x) { return emit(op::logical_not, x); }
inline term isnan(term const& x) { return emit(op::isnan, x); }
inline term isfinite(term const& x) { return emit(op::isfinite, x); }
inline term signbit(term const& x) { return emit(op::signbit, x); }
inline term abs(term const& x) { return emit(op::abs, x); }
inline term clamp(term const& x, term const& low, term const& high) { return emit(op::clamp, x, low, high); }
inline term fma(term const& x, term const& y, term const& z) { return emit(op::fma, x, y, z); }
inline term hypot(term const& x, term const& y) { return emit(op::hypot, x, y); }
inline term sqrt(term const& x) { return emit(op::sqrt, x); }
inline term exp(term const& x) { return emit(op::exp, x); }
inline term log(term const& x) { return emit(op::log, x); }
inline term pow(term const& x, term const& y) { return emit(op::pow, x, y); }
inline term sin(term const& x) { return emit(op::sin, x); }
inline term cos(term const& x) { return emit(op::cos, x); }
inline term sinh(term const& x) { return emit(op::sinh, x); }
inline term cosh(term const& x) { return emit(op::cosh, x); }
inline term nearbyint(term const& x) { return emit(op::nearbyint, x); }
inline term digamma(term const& x) { return emit(op::digamma, x); }
inline term shift_right(term const& x, term const& y) { return emit(op::shift_right, x, y); }
inline term select(term const& c, term const& x, term const& y) {
  ir::cursor& at = c.where();
  ir::type const t = x.is_constant() ? y.type() : x.type();
  return term(at, at.add(op::select, c.value(), x.as(at, t), y.as(at, t)));
}
inline term polygamma(term const& n, term const& x) {
  return term(x.where(), x.where().add(op::polygamma, n.as(x.where(), ir::i64), x.value()));
}
inline term ldexp(double x, term const& n, ir::type t) {
  return term(n.where(), n.where().add(op::ldexp, term(x).as(n.where(), t), n.value()));
}

namespace detail {

inline linear select_tangent(term const& c, linear const& a, linear const& b) {
  return linear::chosen(c, a, b);
}
// Constants have no tangent in this representation, so that zero factors here belong to varied values.
inline linear times(linear const& tangent, term const& partial) { return tangent * partial; }
inline linear over(linear const& tangent, term const& y) { return tangent / y; }
// The formulas of call/tangent.hpp.
inline term pow_partial(term const& r, term const& x, term const& y) {
  term const lower = y - 1.0, at_zero = x == 0.0, is_inexact = lower + 1.0 != y || y - lower != 1.0,
             divides = is_inexact && isfinite(x) && !at_zero;
  term const by_power = pow(x, select(at_zero && y == 0.0, 1.0, lower));
  return y * select(divides, r / select(divides, x, 1.0), by_power);
}
inline linear pow_tangent(term const& r, term const& x, term const& y, linear const& dx, linear const& dy) {
  linear all;
  if (!dx.is_zero()) all = pow_partial(r, x, y) * dx;
  if (!dy.is_zero()) {
    term const limit = x == 0.0 && y >= 0.0;
    all = all + select(limit, 0.0, r * log(select(limit, 1.0, x))) * dy;
  }
  return all;
}
inline linear atan2_tangent(term const& x, term const& y, linear const& dx, linear const& dy) {
  term const r = hypot(x, y);
  linear all;
  if (!dx.is_zero()) all = y / r / r * dx;
  if (!dy.is_zero()) all = all - x / r / r * dy;
  return all;
}
inline term one_minus_square(term const& x) {
  term const square = x * x;
  return select(square < 0.5, 1.0 - square, (1.0 - x) * (1.0 + x));
}
inline term exp_of_minus_square(term const& x) {
  term const z = clamp(x, -28.0, 28.0), square = z * z;
  return exp(-square) * (1.0 - fma(z, z, -square));
}
inline linear ldexp_tangent(term const& r, term const& y, linear const& dx) {
  term const half = shift_right(y, 1);
  return ldexp(1.0, half, r.type()) * (ldexp(1.0, y - half, r.type()) * dx);
}

} // namespace detail

// The tangent of an operation; z and dz are those of a third operand.
inline linear
tangent_of(op code, term const& r, std::array<term, 3> const& in, std::array<linear, 3> const& along) {
  [[maybe_unused]] term const &x = in[0], &y = in[1], &z = in[2];
  [[maybe_unused]] linear const &dx = along[0], &dy = along[1], &dz = along[2];
  switch (code) {
#define OVERDUB_UNARY(NAME, KIND, TYPES, EFFECT, COST, TRAITS, NATIVE, TANGENT)                              \
  case op::NAME:                                                                                             \
    return TANGENT;
#define OVERDUB_BINARY OVERDUB_UNARY
#define OVERDUB_TERNARY OVERDUB_UNARY
#include <overdub/core/ops.def>
  default:
    return {};
  }
}

} // namespace formula
} // namespace overdub::adjoint
