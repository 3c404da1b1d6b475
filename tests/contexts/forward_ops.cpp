// Run by g++: it takes each operation; the sanitizers run forward.
// forward: the tangent of every row of the table of operations, against finite differences.
#include "catch.hpp"
#include "reverse/finite_difference.hpp"

#include <overdub/contexts/forward.hpp>
#include <overdub/derivative.hpp>
#include <overdub/special.hpp>

#include <concepts>
#include <tuple>

namespace {

using namespace overdub;
using contexts::forward;

// A function of the I-th argument, with the other arguments fixed.
template <int I, class F>
auto partial(F const& f, double x, double y, double z) {
  return [=](auto t) {
    if constexpr (I == 0)
      return f(t, y, z);
    else if constexpr (I == 1)
      return f(x, t, z);
    else
      return f(x, y, t);
  };
}

// The first and second derivative along the I-th argument.
template <int I, class F>
void check_along(F const& f, double x, double y, double z) {
  auto const g = partial<I>(f, x, y, z);
  double const t = I == 0 ? x : (I == 1 ? y : z);
  auto const first = [&](double u) { return double{derivative(g, u)}; };
  INFO("argument " << I << " of " << x << ", " << y << ", " << z);
  CHECK(close(first(t), finite_difference(g, t), 1e-7));
  double const second = derivative([&](auto u) { return derivative(g, u); }, t);
  CHECK(close(second, finite_difference(first, t), 1e-6));
}

template <int Arity, class Op>
void check_op(Op op) {
  INFO(op.name());
  auto const f = [](auto x, auto y, auto z) {
    if constexpr (Arity == 1)
      return Op{}(x);
    else if constexpr (Arity == 2)
      return Op{}(x, y);
    else
      return Op{}(x, y, z);
  };
  for_points(domain_of(op.name()), Arity, [&](double x, double y, double z) {
    check_along<0>(f, x, y, z);
    if constexpr (Arity > 1) check_along<1>(f, x, y, z);
    if constexpr (Arity > 2) check_along<2>(f, x, y, z);
  });
}

template <class Op>
consteval bool differentiable() {
  using Kind = kind_of<Op>;
  return !std::same_as<Kind, kind::indexed> && !std::same_as<Kind, kind::comparison> &&
         !std::same_as<Kind, kind::logical> && !std::same_as<Kind, kind::bitwise> && !std::same_as<Op, rem_t>;
}
template <int Arity, class Op>
void check_if_differentiable(Op op) {
  if constexpr (differentiable<Op>()) check_op<Arity>(op);
}

TEST_CASE(
    "the first and second derivatives of every operation of one argument agree with finite differences") {
#define OVERDUB_UNARY(NAME, KIND, TYPES, EFFECT, COST, TRAITS, NATIVE, TANGENT)                              \
  check_if_differentiable<1>(overdub::NAME);
#define OVERDUB_BINARY(NAME, KIND, TYPES, EFFECT, COST, TRAITS, NATIVE, TANGENT)
#define OVERDUB_TERNARY(NAME, KIND, TYPES, EFFECT, COST, TRAITS, NATIVE, TANGENT)
#include <overdub/core/ops.def>
}

TEST_CASE(
    "the first and second derivatives of every operation of two arguments agree with finite differences") {
#define OVERDUB_UNARY(NAME, KIND, TYPES, EFFECT, COST, TRAITS, NATIVE, TANGENT)
#define OVERDUB_BINARY(NAME, KIND, TYPES, EFFECT, COST, TRAITS, NATIVE, TANGENT)                             \
  check_if_differentiable<2>(overdub::NAME);
#define OVERDUB_TERNARY(NAME, KIND, TYPES, EFFECT, COST, TRAITS, NATIVE, TANGENT)
#include <overdub/core/ops.def>
}

TEST_CASE(
    "the first and second derivatives of every operation of three arguments agree with finite differences") {
#define OVERDUB_UNARY(NAME, KIND, TYPES, EFFECT, COST, TRAITS, NATIVE, TANGENT)
#define OVERDUB_BINARY(NAME, KIND, TYPES, EFFECT, COST, TRAITS, NATIVE, TANGENT)
#define OVERDUB_TERNARY(NAME, KIND, TYPES, EFFECT, COST, TRAITS, NATIVE, TANGENT)                            \
  check_if_differentiable<3>(overdub::NAME);
#include <overdub/core/ops.def>
}

TEST_CASE("select, ldexp and polygamma are differentiated by their floating-point arguments") {
  for_points(anywhere, 3, [](double x, double y, double z) {
    auto const choose = [](auto a, auto b, auto c) { return overdub::select(a > b, a * b, c * b); };
    check_along<0>(choose, x, y, z);
    check_along<1>(choose, x, y, z);
    check_along<2>(choose, x, y, z);
  });
  for_points(domain_of("digamma"), 1, [](double x, double, double) {
    check_along<0>([](auto t, auto, auto) { return polygamma(2, t); }, x, 0.0, 0.0);
    check_along<0>([](auto t, auto, auto) { return overdub::ldexp(t * t, 3); }, x, 0.0, 0.0);
  });
}

TEST_CASE("piecewise constant results have the tangent zero, at compile time") {
  auto const tangent_of = [](auto f, auto... x) { return overdub::run(forward{}, f, tag(x, x)...).metadata; };
  static_assert(std::same_as<decltype(tangent_of(overdub::lt, 1.0, 2.0)), zero>);
  static_assert(std::same_as<decltype(tangent_of(overdub::isnan, 1.0)), zero>);
  static_assert(std::same_as<decltype(tangent_of(convert<i64>, 1.0)), zero>);
  CHECK(tangent_of(overdub::floor, 1.5) == 0.0);
  CHECK(tangent_of(overdub::round, 1.5) == 0.0);
}

TEST_CASE("derivatives at the boundary of a smooth domain are the limits, or infinite or NaN") {
  auto const at_zero = [](auto f) { return derivative(f, 0.0); };
  CHECK(at_zero([](auto x) { return overdub::pow(x, 2.0); }) == 0.0);
  CHECK(at_zero([](auto x) { return overdub::pow(x, 1.0); }) == 1.0);
  CHECK(at_zero([](auto x) { return overdub::pow(2.0, x); }) == overdub::log(2.0));
  CHECK(derivative([](auto y) { return overdub::pow(0.0, y); }, 2.0) == 0.0);
  CHECK(derivative([](auto x) { return overdub::pow(x, 3.0); }, -2.0) == 12.0);
  CHECK(derivative([](auto x) { return overdub::pow(x, 3); }, -2.0) == 12.0);
  CHECK(at_zero([](auto x) { return overdub::pow(x, 0.0); }) == 0.0);
  CHECK(at_zero([](auto x) { return overdub::pow(x, 0); }) == 0.0);
  CHECK(at_zero([](auto x) { return derivative([](auto y) { return overdub::pow(y, 1); }, x); }) == 0.0);
  CHECK(std::isinf(at_zero([](auto x) { return overdub::sqrt(x); })));
  CHECK(derivative([](auto x) { return overdub::abs(x); }, -0.5) == -1.0);
  CHECK(derivative([](auto x) { return overdub::hypot(x, 0.0); }, -2.0) == -1.0);
}

TEST_CASE("fmod is differentiated by its own quotient, also where x / y rounds up to the next integer") {
  CHECK(std::fmod(1.0, 0.1) > 0.0); // its quotient is 9, and 1.0 / 0.1 is 10.0
  CHECK(derivative([](auto y) { return overdub::fmod(1.0, y); }, 0.1) == -9.0);
}

} // namespace
