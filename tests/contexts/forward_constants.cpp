// Run by g++: it takes each operation at its singular points; the sanitizers run forward.
// Constants have no derivative, even where a partial derivative is infinite or NaN: x g(k) has the derivative g(k), for
// every row of the table of operations and at its singular points, wherever the constant k comes from.
#include "catch.hpp"

#include <overdub/contexts/forward.hpp>
#include <overdub/derivative.hpp>
#include <overdub/special.hpp>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <tuple>

namespace {

using namespace overdub;
using contexts::forward;

constexpr double infinity = std::numeric_limits<double>::infinity();
// Points at which logarithms, roots, quotients, inverse functions and exponentials have no finite derivative.
constexpr std::array<double, 17> points = {
    0.0,
    -0.0,
    1.0,
    -1.0,
    2.0,
    -2.0,
    0.5,
    infinity,
    -infinity,
    800.0,
    -800.0,
    1100.0,
    1e-310,
    1e300,
    1.5707963267948966,
    -0.5,
    std::numeric_limits<double>::quiet_NaN()};

bool same(double a, double b) {
  return std::memcmp(&a, &b, sizeof a) == 0 || (std::isnan(a) && std::isnan(b)) || (a == 0 && b == 0);
}

// A product of infinities has no tangent of its own (see limitations): the tangents of its factors are multiplied by infinity.
template <class Op, class... K>
bool is_infinite_product(Op op, K... k) {
  return (op.name() == "mul" || op.name() == "fma") && (std::isinf(k) || ...);
}

template <class Op>
struct scaled {
  template <class X, class... K>
  constexpr auto operator()(X const& x, K const&... k) const {
    return x * Op{}(k...);
  }
};
template <class Op>
struct squared {
  template <class X, class... K>
  constexpr auto operator()(X const& x, K const&... k) const {
    return x * x * Op{}(k...);
  }
};

template <class Op, class... K>
void check_at(Op op, K... k) {
  if (is_infinite_product(op, k...)) return;
  if (op.name() == "lerp" && (std::isnan(k) || ...)) return; // std::lerp of NaN may be a number
  double const g = op(k...), x = 2.0;
  std::string at;
  ((at += " " + std::to_string(k)), ...);
  INFO(op.name() << at);

  // lifted
  auto const lifted =
      run(forward{}, fn<"lifted">([](overdub::scope auto& cx, auto factor, auto const& given) {
            return std::apply([&](auto... c) { return factor * Op{}(cx.lift(concrete(c))...); }, given);
          }),
          tag(x, 1.0), std::tuple(k...));
  CHECK(same(lifted.metadata, g));

  // plain data together with active values, in one direction and in two
  CHECK(same(run(forward{}, fn<"scaled">(scaled<Op>{}), tag(x, 1.0), k...).metadata, g));
  auto const two =
      run(contexts::forward_along<2>{}, fn<"scaled">(scaled<Op>{}),
          tag(x, contexts::tangents<double, 2>(1.0, 0.0)), k...);
  CHECK(same(two.metadata[0], g));
  CHECK(same(two.metadata[1], 0.0 * g));

  // numbers whose tangent is 0 at run time
  CHECK(same(run(forward{}, fn<"scaled">(scaled<Op>{}), tag(x, 1.0), tag(k, 0.0)...).metadata, g));

  // forward over forward: the second derivative of x^2 g(k) is 2 g(k)
  auto const second = derivative(
      [&](auto u) { return run(forward{}, fn<"squared">(squared<Op>{}), tag(u, 1.0), k...).metadata; }, x);
  if (std::isfinite(g) || std::isnan(g)) CHECK(same(second, 2.0 * g));
}

template <class Op>
consteval bool is_checked() {
  using Kind = kind_of<Op>;
  return !std::same_as<Kind, kind::indexed> && !std::same_as<Kind, kind::comparison> &&
         !std::same_as<Kind, kind::logical> && !std::same_as<Kind, kind::bitwise> && !std::same_as<Op, rem_t>;
}

} // namespace

TEST_CASE("a constant argument of a unary operation has no derivative, wherever the constant comes from") {
  auto const check = [](auto op) {
    if constexpr (is_checked<decltype(op)>())
      for (double const k : points) check_at(op, k);
  };
#define OVERDUB_UNARY(NAME, KIND, TYPES, EFFECT, COST, TRAITS, NATIVE, TANGENT) check(overdub::NAME);
#include <overdub/core/ops.def>
}

TEST_CASE("constant arguments of a binary operation have no derivative, wherever the constants come from") {
  auto const check = [](auto op) {
    if constexpr (is_checked<decltype(op)>())
      for (double const k : points)
        for (double const l : points) check_at(op, k, l);
  };
#define OVERDUB_BINARY(NAME, KIND, TYPES, EFFECT, COST, TRAITS, NATIVE, TANGENT) check(overdub::NAME);
#include <overdub/core/ops.def>
}

TEST_CASE("constant arguments of a ternary operation have no derivative, wherever the constants come from") {
  auto const check = [](auto op) {
    if constexpr (is_checked<decltype(op)>())
      for (double const k : points)
        for (double const l : points)
          for (double const m : {0.5, 0.0, 1.0, infinity, -infinity}) check_at(op, k, l, m);
  };
#define OVERDUB_TERNARY(NAME, KIND, TYPES, EFFECT, COST, TRAITS, NATIVE, TANGENT) check(overdub::NAME);
#include <overdub/core/ops.def>
}

TEST_CASE("an infinite partial derivative does not affect directions in which its argument is inactive") {
  auto const power = [](auto const& x) {
    return overdub::pow(overdub::at(x, i64{0}), overdub::at(x, i64{1}));
  };
  auto const of_power = forward_gradient(power, array<double>{-2.0, 3.0});
  CHECK(of_power[0] == 12.0);
  CHECK(std::isnan(of_power[1])); // the derivative by the exponent itself
  auto const root = [](auto const& x) {
    return overdub::sqrt(overdub::at(x, i64{0})) + overdub::at(x, i64{1});
  };
  for (int const directions : {1, 8}) {
    array<double> const xs{0.0, 5.0};
    auto const derivatives = directions == 1 ? forward_gradient<1>(root, xs) : forward_gradient(root, xs);
    CHECK(derivatives[0] == infinity);
    CHECK(derivatives[1] == 1.0);
  }
}

TEST_CASE("the derivative rule of a function may be infinite at constants") {
  constexpr auto root =
      derivative_rule(fn<"root">([](auto x) { return overdub::sqrt(x); }), [](auto r, auto, auto dx) {
        return dx / (2.0 * r);
      });
  constexpr auto scaled = fn<"scaled">([](auto x, auto k) { return x * decltype(root){}(k); });
  CHECK(run(forward{}, scaled, tag(2.0, 1.0), 0.0).metadata == 0.0);
  CHECK(run(forward{}, scaled, tag(2.0, 1.0), tag(0.0, 0.0)).metadata == 0.0);
  CHECK(run(forward{}, scaled, tag(2.0, 1.0), tag(4.0, 1.0)).metadata == 2.5);
  CHECK(run(forward{}, scaled, tag(2.0, 0.0), tag(0.0, 1.0)).metadata == infinity);
  array<double> const data{0.0, 4.0};
  auto const fitted = [&](auto const& b) {
    auto const weights = overdub::map([](auto x) { return decltype(root){}(x); }, data);
    return b[0] * weights[0] + b[1] + b[0] * decltype(root){}(data[1]) + b[1];
  };
  auto const derivatives = forward_gradient(fitted, array<double>{1.0, 2.0});
  CHECK(derivatives[0] == 2.0);
  CHECK(derivatives[1] == 2.0);
}
