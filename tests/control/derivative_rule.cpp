// Functions with a derivative rule, in forward and reverse mode, in programs and in other contexts.
#include "catch.hpp"

#include <overdub/compile/compile.hpp>
#include <overdub/contexts/count.hpp>
#include <overdub/contexts/forward.hpp>
#include <overdub/derivative.hpp>
#include <overdub/execute/interpreter.hpp>
#include <overdub/forward_program.hpp>
#include <overdub/hessian.hpp>
#include <overdub/ir/parse.hpp>
#include <overdub/ir/print.hpp>
#include <overdub/reverse.hpp>

#include <cmath>
#include <string>
#include <tuple>

namespace {

using namespace overdub;
using contexts::forward;

// A native solver, whose body no context enters, with the implicit function theorem as its rule.
inline constexpr auto solve = leaf<"solve">(
    [](double mean, double e) {
      double anomaly = mean;
      for (int i = 0; i < 50; ++i)
        anomaly -= (anomaly - e * std::sin(anomaly) - mean) / (1 - e * std::cos(anomaly));
      return anomaly;
    },
    effects::pure);
inline constexpr auto kepler = derivative_rule(
    fn<"kepler">([](auto mean, auto e) { return solve(mean, e); }),
    [](auto r, auto, auto e, auto dmean, auto de) {
      return (dmean + overdub::sin(r) * de) / (1.0 - e * overdub::cos(r));
    });
inline constexpr auto radius =
    fn<"radius">([](auto mean, auto e) { return 1.0 - e * overdub::cos(kepler(mean, e)); });

// The rule differs from the derivative of the body, so that tests can tell which one is used.
inline constexpr auto doubled_slope = derivative_rule(
    fn<"doubled_slope">([](auto x) { return x * x; }), [](auto, auto x, auto dx) { return 4.0 * x * dx; });
inline constexpr auto clipped =
    cotangent_rule(fn<"clipped">([](auto x) { return 1.0 * x; }), [](auto, auto, auto c) {
      return overdub::clamp(c, -1.0, 1.0);
    });

double by_differences(auto const& f, double x) {
  double const h = 1e-5;
  return (f(x + h) - f(x - h)) / (2 * h);
}

TEST_CASE("forward uses the rule, and does not differentiate the body") {
  CHECK(derivative(doubled_slope, 3.0) == 12.0);
  auto const r = run(forward{}, radius, tag(0.8, 1.0), 0.3);
  CHECK(r.inner == radius(0.8, 0.3));
  CHECK(r.metadata == Approx(by_differences([](double m) { return radius(m, 0.3); }, 0.8)).epsilon(1e-9));
  auto const both =
      run(contexts::forward_along<2>{}, radius, tag(0.8, contexts::tangents<double, 2>(1.0, 0.0)),
          tag(0.3, contexts::tangents<double, 2>(0.0, 1.0)));
  CHECK(both.metadata[0] == r.metadata);
  CHECK(both.metadata[1] == run(forward{}, radius, 0.8, tag(0.3, 1.0)).metadata);
}

TEST_CASE("reverse mode transposes the rule, also in functions that call the function") {
  CHECK(gradient(doubled_slope)(3.0) == 12.0);
  auto const [by_mean, by_e] = gradient(radius)(0.8, 0.3);
  CHECK(by_mean == Approx(run(forward{}, radius, tag(0.8, 1.0), 0.3).metadata));
  CHECK(by_e == Approx(run(forward{}, radius, 0.8, tag(0.3, 1.0)).metadata));
}

TEST_CASE("the optimised gradient of an implicit function solves once") {
  auto const f = compile(gradient(radius), signature<double, double>);
  std::string const text = print(f.made().program());
  CHECK(text.find("host") == text.rfind("host"));
  CHECK(text.find("kepler") == std::string::npos); // calls of rules are inlined
}

TEST_CASE("reverse mode calls a cotangent rule, and forward mode applies it to one number at a time") {
  auto const f = [](auto x) { return 5.0 * clipped(x); };
  CHECK(derivative(f, 2.0) == 5.0); // the cotangent 1 is not clipped
  CHECK(gradient(fn<"f">(f))(2.0) == 1.0);
}

inline constexpr auto slope_of_radius = fn<"slope_of_radius">([](auto m) {
  auto const [by_mean, by_e] = gradient(radius)(m, 0.3);
  return by_mean * by_e;
});

TEST_CASE("the derivative of a rule is that of its body, to any order") {
  auto const first = [](double m) { return run(forward{}, radius, tag(m, 1.0), 0.3).metadata; };
  double const second = by_differences(first, 0.8);
  constexpr auto at = fn<"at_e">([](auto m) { return radius(m, 0.3); });
  CHECK(derivative([&](auto m) { return derivative(at, m); }, 0.8) == Approx(second).epsilon(1e-8));
  CHECK(hessian(at)(0.8) == Approx(second).epsilon(1e-8));
  double const third = by_differences([](double m) { return slope_of_radius(m); }, 0.8);
  CHECK(gradient(slope_of_radius)(0.8) == Approx(third).epsilon(1e-8));
  CHECK(derivative(slope_of_radius, 0.8) == Approx(third).epsilon(1e-8));
}

TEST_CASE("programs contain the rules, also in their text") {
  ir::program const p = stage(radius, signature<double, double>);
  std::string const text = print(p);
  CHECK(text.find("func @kepler(%0: f64, %1: f64) -> f64 tangent @kepler.tangent {") != std::string::npos);
  CHECK(ir::parse(text) == p);
  ir::program other = p;
  other[*other.find("kepler")].derivative = {};
  CHECK(!(other == p));
  contexts::count c;
  CHECK(
      print(stage(c, radius, signature<double, double>)).find("tangent @kepler.count.tangent") !=
      std::string::npos);
}

TEST_CASE("a parsed program is differentiated by its rules") {
  ir::program const p = ir::parse(R"(entry @f
func @f(%x: f64, %y: f64) -> f64 {
  %a = call @s(%x) : f64
  %b = mul %a, %y : f64
  return %b
}
func @s(%x: f64) -> f64 tangent @s.t {
  %y = mul %x, %x : f64
  return %y
}
func @s.t(%r: f64, %x: f64, %d: f64) -> f64 {
  %z = mul %x, 100.0 : f64
  %y = mul %z, %d : f64
  return %y
}
)");
  ir::program reversed = p;
  differentiate_entry(reversed, {true, true}, true);
  auto const [value, by_x, by_y] = executable(reversed).call<std::tuple<double, double, double>>(3.0, 2.0);
  CHECK(value == 18.0);
  CHECK(by_x == 600.0);
  CHECK(by_y == 9.0);
  auto const [y, dy] = executable(forward_of(p)).call<std::tuple<double, double>>(3.0, 1.0, 2.0, 0.0);
  CHECK(y == 18.0);
  CHECK(dy == 600.0);
}

inline constexpr auto frozen = stop_gradient(fn<"frozen">([](auto x) { return x * x; }));
inline constexpr auto with_frozen = fn<"with_frozen">([](auto x) { return 2.0 * frozen(x) * x; });
inline constexpr auto drawn =
    not_differentiable<"it draws a number">(fn<"drawn">([](auto x) { return x * 7.0; }));
inline constexpr auto with_drawn = fn<"with_drawn">([](auto x, auto y) { return drawn(x) * y; });

TEST_CASE("the result of stop_gradient is a constant in every mode") {
  CHECK(derivative(with_frozen, 3.0) == 18.0);
  CHECK(gradient(with_frozen)(3.0) == 18.0);
  CHECK(gradient(frozen)(3.0) == 0.0);
  ir::program const p = forward_of(stage(with_frozen, signature<double>));
  CHECK(std::get<1>(executable(p).call<std::tuple<double, double>>(3.0, 1.0)) == 18.0);
  auto const f = compile(gradient(with_frozen), signature<double>);
  CHECK(print(f.made().program()).find("call") == std::string::npos);
}

TEST_CASE("not_differentiable is an error with its reason if an argument is active") {
  constexpr auto of_literal = fn<"of_literal">([](auto& cx, auto x) { return cx(drawn, 2.0) * x; });
  CHECK(derivative(of_literal, 3.0) == 14.0);
  CHECK(gradient<1>(with_drawn)(3.0, 2.0) == 21.0);
  auto const why = [](auto const& f) -> std::string {
    try {
      f();
    } catch (differentiation_error const& e) {
      return e.what();
    }
    return "";
  };
  CHECK(why([] {
          (void)gradient<0>(with_drawn)(3.0, 2.0);
        }) == "overdub: @with_drawn.gradient.by0: call: @drawn cannot be differentiated: it draws a number");
  CHECK(why([] {
          (void)gradient(drawn)(3.0);
        }) == "overdub: @drawn cannot be differentiated: it draws a number");
  ir::program const p = stage(with_drawn, signature<double, double>);
  CHECK(why([&] { (void)forward_of(p); }) == "overdub: @drawn cannot be differentiated: it draws a number");
}

TEST_CASE("not_differentiable accepts literals as arguments in programs") {
  constexpr auto f = fn<"f">([](auto& cx, auto x) { return cx(drawn, 2.0) * x; });
  ir::program const p = forward_of(stage(f, signature<double>));
  CHECK(std::get<1>(executable(p).call<std::tuple<double, double>>(3.0, 1.0)) == 14.0);
}

TEST_CASE("a function with a rule has the name of the function, and compares like any function") {
  CHECK(kepler.name() == "kepler");
  CHECK(kepler == kepler);
  CHECK(!(doubled_slope == frozen));
  CHECK(doubled_slope(3.0) == 9.0);
}

} // namespace
