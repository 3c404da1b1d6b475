// Gradients of functions in contexts are gradients of the rewritten functions.
#include "catch.hpp"
#include "contexts/test_contexts.hpp"

#include <overdub/compile/compile.hpp>
#include <overdub/contexts/forward.hpp>
#include <overdub/derivative.hpp>
#include <overdub/hessian.hpp>
#include <overdub/reverse.hpp>

#include <cmath>
#include <tuple>
#include <vector>

namespace {

namespace od = overdub;
namespace oc = overdub::contexts;
using namespace test_contexts;

inline constexpr auto energy =
    od::fn<"energy">([](auto const& xs) { return od::sum(od::map([](auto x) { return sin(x) * x; }, xs)); });

double slope_of_sine(double x) { return 2.0 * x * std::cos(x * x); }

} // namespace

TEST_CASE("the gradient of a function in a context is that of the function with the context's rules") {
  double const x = 0.5;
  CHECK(od::gradient(doubling{}, wave)(x) == Approx(2.0 * slope_of_sine(x) + 1.0));
  CHECK(od::gradient(od::compose(), wave)(x) == od::gradient(wave)(x));
  auto const [value, first_derivative] = od::value_and_gradient(doubling{}, wave)(x);
  CHECK(value == od::run(doubling{}, wave, x));
  CHECK(first_derivative == od::gradient(doubling{}, wave)(x));
  od::array<double> const xs{1.0, 2.0, -0.5};
  CHECK(od::gradient(doubling{}, energy)(xs)[1] == Approx(2.0 * (std::cos(2.0) * 2.0 + std::sin(2.0))));
}

TEST_CASE("fingerprints of contexts select the program of a gradient, and each call reads the fields") {
  double const x = 0.5;
  repeating r(2);
  auto const by_fingerprint = od::gradient(r, wave);
  CHECK(by_fingerprint(x) == Approx(2.0 * slope_of_sine(x) + 1.0));
  r.times = 5;
  CHECK(by_fingerprint(x) == Approx(5.0 * slope_of_sine(x) + 1.0));
  scaling s;
  auto const by_field = od::gradient(s, wave);
  CHECK(by_field(x) == Approx(3.0 * slope_of_sine(x) + 1.0));
  s.by = 4.0;
  CHECK(by_field(x) == Approx(4.0 * slope_of_sine(x) + 1.0));
  auto const both = od::gradient(od::compose(doubling{}, s), wave);
  CHECK(both(x) == Approx(8.0 * slope_of_sine(x) + 1.0));
  auto const compiled = od::compile(by_field, od::signature<double>);
  CHECK(compiled(x) == by_field(x));
  s.by = 0.0;
  CHECK(compiled(x) == 1.0);
}

TEST_CASE("hooks observe the calls of the forward pass once") {
  observing h;
  CHECK(od::gradient(h, wave)(0.5) == od::gradient(wave)(0.5));
  CHECK(h.products == std::vector<double>{0.25});
}

TEST_CASE("passes rewrite the function before it is differentiated") {
  double const x = 0.5;
  turning t;
  auto const of = od::gradient(t, wave);
  CHECK(of(x) == Approx(-2.0 * x * std::sin(x * x) + 1.0));
  t.is_on = false;
  CHECK(of(x) == od::gradient(wave)(x));
}

TEST_CASE("second derivatives, Jacobians and products in contexts are those of the rewritten functions") {
  double const x = 0.5;
  double const second = 2.0 * std::cos(x * x) - 4.0 * x * x * std::sin(x * x);
  CHECK(od::hessian(doubling{}, wave)(x) == Approx(2.0 * second));
  CHECK(od::hessian_vector_product(doubling{}, wave)(x, 3.0) == Approx(6.0 * second));
  CHECK(
      od::vector_jacobian_product(doubling{}, wave)(x, 3.0) == Approx(3.0 * (2.0 * slope_of_sine(x) + 1.0)));
  observing h;
  CHECK(od::hessian(h, wave)(x) == Approx(second));
  CHECK(h.products == std::vector<double>{0.25});
  scaling s;
  CHECK(od::hessian(s, wave)(x) == Approx(3.0 * second));
  constexpr auto sines =
      od::fn<"sines">([](auto const& xs) { return od::map([](auto e) { return sin(e); }, xs); });
  CHECK(od::jacobian(doubling{}, sines)(od::array<double>{0.5, 1.0})[1][1] == Approx(2.0 * std::cos(1.0)));
}

TEST_CASE("in contexts with metadata, values and metadata have cotangents") {
  constexpr auto product = od::fn<"product">([](auto x, auto y) { return x * y; });
  auto const back = od::vector_jacobian_product(oc::forward{}, product);
  auto const [dx, dy] = back(od::tag(2.0, 3.0), 5.0, od::tag(1.0, 0.0));
  CHECK(dx.inner == 5.0);
  CHECK(dx.metadata == 0.0);
  CHECK(dy == 2.0);
  auto const [ex, ey] = back(od::tag(2.0, 3.0), 5.0, od::tag(0.0, 1.0)); // of the tangent, which is 3 y
  CHECK(ex.inner == 0.0);
  CHECK(ex.metadata == 5.0);
  CHECK(ey == 3.0);
}

TEST_CASE("a gradient in contexts is called in other contexts, and differentiated") {
  double const x = 0.5;
  CHECK(od::run(observing{}, od::gradient(doubling{}, wave), x) == od::gradient(doubling{}, wave)(x));
  CHECK(
      od::run(oc::forward{}, od::gradient(doubling{}, wave), od::tag(x, 1.0)).metadata ==
      Approx(od::hessian(doubling{}, wave)(x)));
  CHECK(od::gradient(od::gradient(doubling{}, wave))(x) == Approx(od::hessian(doubling{}, wave)(x)));
  scaling s;
  observing own, around;
  CHECK(od::run(doubling{}, od::gradient(s, wave), x) == od::gradient(s, wave)(x));
  CHECK(od::run(around, od::gradient(od::compose(own, s), wave), x) == Approx(3.0 * slope_of_sine(x) + 1.0));
  CHECK(own.products.size() == 1); // x * x: calls in a rule are outside of this context
  CHECK(around.products.size() > own.products.size());
}

TEST_CASE("pullback in contexts runs the function in them, and the backward pass of the rewritten function") {
  double const x = 0.5;
  auto const [value, back] = od::pullback(doubling{}, wave)(x);
  CHECK(value == od::run(doubling{}, wave, x));
  CHECK(back(3.0) == Approx(3.0 * (2.0 * slope_of_sine(x) + 1.0)));
  repeating r(2);
  auto const by_fingerprint = od::pullback(r, wave);
  CHECK(by_fingerprint(x).second(1.0) == Approx(2.0 * slope_of_sine(x) + 1.0));
  r.times = 5;
  CHECK(by_fingerprint(x).second(1.0) == Approx(5.0 * slope_of_sine(x) + 1.0));
  turning t;
  CHECK(od::pullback(t, wave)(x).second(1.0) == Approx(1.0 - 2.0 * x * std::sin(x * x)));
  auto const [first, of_array] = od::pullback(doubling{}, energy)(od::array<double>{1.0, 2.0});
  CHECK(first == Approx(2.0 * std::sin(1.0) + 4.0 * std::sin(2.0)));
  CHECK(of_array(1.0)[1] == Approx(2.0 * (std::cos(2.0) * 2.0 + std::sin(2.0))));
}

TEST_CASE(
    "a pullback has the fields that its contexts had in the forward pass, whose calls their hooks observed") {
  double const x = 0.5;
  observing h;
  scaling s;
  auto const [value, back] = od::pullback(od::compose(h, s), wave)(x);
  CHECK(value == 3.0 * std::sin(x * x) + x);
  s.by = 7.0;
  CHECK(back(1.0) == Approx(3.0 * slope_of_sine(x) + 1.0));
  CHECK(back(2.0) == Approx(6.0 * slope_of_sine(x) + 2.0));
  CHECK(h.products == std::vector<double>{0.25});
}

TEST_CASE("in contexts with metadata, a pullback takes cotangents of values and metadata") {
  constexpr auto product = od::fn<"product">([](auto x, auto y) { return x * y; });
  auto const [value, back] = od::pullback(oc::forward{}, product)(od::tag(2.0, 3.0), 5.0);
  CHECK(value.metadata == 15.0);
  auto const [dx, dy] = back(od::tag(0.0, 1.0));
  CHECK(dx.metadata == 5.0);
  CHECK(dy == 3.0);
}

TEST_CASE("a pullback in contexts is called in other contexts, and differentiated") {
  double const x = 0.5;
  auto const squared_slope = [](auto const& of) {
    return [of](auto y) {
      auto const [value, back] = of(y);
      return value * back(1.0);
    };
  };
  auto const of = squared_slope(od::pullback(doubling{}, wave));
  double const value = 2.0 * std::sin(x * x) + x, first_derivative = 2.0 * slope_of_sine(x) + 1.0;
  CHECK(od::run(observing{}, of, x) == Approx(value * first_derivative));
  CHECK(
      od::derivative(of, x) ==
      Approx(first_derivative * first_derivative + value * od::hessian(doubling{}, wave)(x)));
}

TEST_CASE("forward differentiates the rewritten function of contexts") {
  double const x = 0.5, first_derivative = slope_of_sine(x);
  CHECK(od::derivative(doubling{}, wave, x) == Approx(2.0 * first_derivative + 1.0));
  auto const both = od::value_and_derivative(doubling{}, wave, x);
  CHECK(both.inner == od::run(doubling{}, wave, x));
  CHECK(both.metadata == od::derivative(doubling{}, wave, x));
  CHECK(od::directional_derivative(doubling{}, wave)(x, 3.0) == Approx(6.0 * first_derivative + 3.0));
  CHECK(od::directional_derivative(od::compose(), wave)(x, 3.0) == od::directional_derivative(wave)(x, 3.0));
  constexpr auto scaled_wave = od::fn<"scaled_wave">([](auto y, auto a) { return a * sin(y); });
  CHECK(
      od::directional_derivative(doubling{}, scaled_wave)(x, 3.0, 1.0, 0.5) ==
      Approx(6.0 * std::cos(x) + std::sin(x)));

  repeating r(2);
  scaling s;
  turning t;
  observing h;
  auto const of = od::directional_derivative(od::compose(r, s), wave);
  CHECK(of(x, 1.0) == Approx(6.0 * first_derivative + 1.0));
  r.times = 3;
  s.by = 4.0;
  CHECK(of(x, 1.0) == Approx(12.0 * first_derivative + 1.0));
  CHECK(od::directional_derivative(t, wave)(x, 1.0) == Approx(1.0 - 2.0 * x * std::sin(x * x)));
  CHECK(od::directional_derivative(h, wave)(x, 1.0) == Approx(first_derivative + 1.0));
  CHECK(h.products == std::vector<double>{0.25});
  auto const again = [&](auto y) { return od::directional_derivative(doubling{}, wave)(y, 1.0); };
  CHECK(od::derivative(again, x) == Approx(od::hessian(doubling{}, wave)(x)));
}

TEST_CASE(
    "forward mode gradients and Jacobians of functions in contexts are those of the rewritten functions") {
  od::array<double> const xs{1.0, 2.0, -0.5};
  constexpr auto sines =
      od::fn<"sines">([](auto const& all) { return od::map([](auto e) { return sin(e); }, all); });
  CHECK(
      od::forward_gradient(doubling{}, energy, xs)[1] == Approx(2.0 * (std::cos(2.0) * 2.0 + std::sin(2.0))));
  CHECK(od::forward_jacobian<1>(doubling{}, sines, xs)[1][1] == Approx(2.0 * std::cos(2.0)));
  turning t;
  CHECK(od::forward_gradient<1>(t, energy, xs)[0] == Approx(std::cos(1.0) - std::sin(1.0)));
}
