// Run by g++: the sanitizers run forward and reverse, which share its code.
// Derivatives of programs at singular points of constants: forward programs, Hessians, and choice gradients of dynamic models.
#include "catch.hpp"

#include <overdub/distributions.hpp>
#include <overdub/execute/interpreter.hpp>
#include <overdub/forward_program.hpp>
#include <overdub/hessian.hpp>
#include <overdub/models.hpp>
#include <overdub/models/dynamic_gradients.hpp>
#include <overdub/overdub.hpp>
#include <overdub/reverse.hpp>
#include <overdub/stage/stage.hpp>

#include <cmath>
#include <limits>
#include <tuple>

namespace {

namespace od = overdub;
namespace ds = overdub::distributions;
namespace md = overdub::models;
using overdub::i64;

// 1 + x + x^2 + x^3: x to the index of a loop.
constexpr auto polynomial = od::fn<"polynomial">([](auto x) {
  return od::loop(i64{4}, x * 0.0, [&](auto i, auto s) { return s + pow(x, od::convert<double>(i)); });
});
// x (0 + 1 + sqrt 2 + sqrt 3)
constexpr auto roots = od::fn<"roots">([](auto x) {
  return od::loop(i64{4}, x * 0.0, [&](auto i, auto s) { return s + x * sqrt(od::convert<double>(i)); });
});
constexpr auto scaled_root = od::fn<"scaled_root">([](auto x, auto k) { return x * sqrt(k); });

constexpr auto rates = od::fn<"rates">([](od::scope auto& cx, auto const& ts) {
  auto const r = cx(od::sample<"rate">, ds::normal(0, 1));
  od::map([&](auto t) { return cx(od::sample<"y">, ds::normal(r * sqrt(t), 1)); }, ts);
  return r;
});

} // namespace

TEST_CASE("Hessians of powers of a loop index are those of the polynomial") {
  for (double const x : {-1.0, 0.0, 0.5, 2.0}) {
    INFO(x);
    CHECK(od::gradient(polynomial)(x) == Approx(1 + 2 * x + 3 * x * x));
    CHECK(od::hessian(polynomial)(x) == Approx(2 + 6 * x));
    CHECK(od::hessian_vector_product(polynomial)(x, 0.5) == Approx(1 + 3 * x));
  }
}

TEST_CASE("in programs, forward ignores constants, also where the partial derivative is infinite") {
  od::executable const along_x(od::forward_of(od::stage(roots, od::signature<double>)));
  auto const [value, slope] = along_x.call<std::tuple<double, double>>(2.0, 1.0);
  CHECK(slope == Approx(1 + std::sqrt(2.0) + std::sqrt(3.0)));
  CHECK(value == Approx(2 * slope));
  // A number whose tangent is 0 when the program runs.
  od::executable const along(od::forward_of(od::stage(scaled_root, od::signature<double, double>)));
  CHECK(std::get<1>(along.call<std::tuple<double, double>>(2.0, 1.0, 0.0, 0.0)) == 0.0);
  CHECK(
      std::get<1>(along.call<std::tuple<double, double>>(2.0, 0.0, 0.0, 1.0)) ==
      std::numeric_limits<double>::infinity());
}

TEST_CASE("choice gradients of a dynamic model with a datum of 0 are those of the staged model") {
  od::array<double> const ts{0.0, 1.0, 4.0}, ys{0.1, 0.2, 0.3};
  auto const staged = md::model(rates, ts).assess({{"rate", 0.5}, {"y", ys}});
  auto const dynamic = md::dynamic_model(rates, ts);
  auto const direct = dynamic.assess({{"rate", 0.5}, {"y", ys}});
  double const wanted = -0.5 + (0.2 - 0.5) * 1 + (0.3 - 1) * 2;
  CHECK(choice_gradients(staged, {"rate"}).get<double>("rate") == Approx(wanted));
  CHECK(choice_gradients(dynamic, direct, {"rate"}).get<double>("rate") == Approx(wanted));
}
