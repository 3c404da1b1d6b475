// forward: directional derivatives, in one direction or several, and Jacobians by columns.
#include "catch.hpp"
#include "reverse/finite_difference.hpp"

#include <overdub/contexts/forward.hpp>
#include <overdub/derivative.hpp>
#include <overdub/reverse.hpp>

#include <tuple>
#include <type_traits>

namespace {

using namespace overdub;
using contexts::tangents;

inline constexpr auto product = fn<"product">([](auto x, auto y) { return overdub::sin(x) * y; });
inline constexpr auto spread =
    fn<"spread">([](auto const& xs) { return map([&](auto x) { return x * x * xs[0]; }, xs); });
inline constexpr auto both = fn<"both">([](auto const& xs, auto n, auto p) {
  return std::tuple(sum(xs) * convert<double>(n), std::get<0>(p) * std::get<1>(p));
});

TEST_CASE("the directional derivative of a number is a number") {
  CHECK(directional_derivative(product)(1.0, 2.0, 1.0, 0.0) == overdub::cos(1.0) * 2.0);
  CHECK(directional_derivative(product)(1.0, 2.0, 0.0, 3.0) == overdub::sin(1.0) * 3.0);
}

TEST_CASE("the directional derivative has the structure of the result, with zero for integers") {
  auto const [by_sum, by_pair] = directional_derivative(both)(
      array<double>{1.0, 2.0}, i64{3}, std::tuple(4.0, 5.0), array<double>{1.0, 1.0}, i64{0},
      std::tuple(1.0, 0.0));
  CHECK(by_sum == 6.0);
  CHECK(by_pair == 5.0);
}

TEST_CASE("directional derivatives are computed in several directions together") {
  using two = tangents<double, 2>;
  auto const change = directional_derivative(product)(1.0, 2.0, two(1.0, 0.0), two(0.0, 3.0));
  static_assert(std::is_same_v<decltype(change), two const>);
  CHECK(change[0] == overdub::cos(1.0) * 2.0);
  CHECK(change[1] == overdub::sin(1.0) * 3.0);
}

TEST_CASE("a directional derivative is a function, which forward and reverse mode differentiate") {
  constexpr auto slope =
      fn<"slope_along_x">([](auto x) { return directional_derivative(product)(x, 2.0, 1.0, 0.0); });
  CHECK(derivative(slope, 1.0) == Approx(-2.0 * std::sin(1.0)));
  CHECK(gradient(slope)(1.0) == Approx(-2.0 * std::sin(1.0)));
  auto const forwards = directional_derivative(spread)(array<double>{2.0, 3.0}, array<double>{1.0, 0.0});
  CHECK(forwards == array<double>{12.0, 9.0});
}

TEST_CASE("the Jacobian by columns equals the Jacobian by rows") {
  array<double> const xs{2.0, 3.0, 5.0};
  auto const rows = jacobian(spread)(xs);
  CHECK(forward_jacobian(spread, xs) == rows);
  CHECK(forward_jacobian<1>(spread, xs) == rows);
  CHECK(forward_jacobian<2>(spread, xs) == rows);
}

TEST_CASE("gradients in forward and in reverse mode have different names") {
  constexpr auto f = fn<"f">([](auto const& xs) { return sum(spread(xs)); });
  array<double> const xs{2.0, 3.0};
  CHECK(forward_gradient(f, xs) == gradient(f)(xs));
}

} // namespace
