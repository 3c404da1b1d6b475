// test_derivative accepts the rules of functions of numbers, arrays, integers and trees, wherever the functions are called.
#include "catch.hpp"

#include <overdub/test_derivative.hpp>

#include <cmath>
#include <tuple>

namespace {

using namespace overdub;

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

// Arrays, an integer, and a tuple.
inline constexpr auto scaled = derivative_rule(
    fn<"scaled">([](auto xs, auto n, auto s) {
      return std::tuple(map([&](auto x) { return x * s * convert<double>(n); }, xs), s * s);
    }),
    [](auto const& r, auto xs, auto n, auto s, auto dxs, auto, auto ds) {
      auto const dys = map([&](auto x, auto dx) { return convert<double>(n) * (x * ds + dx * s); }, xs, dxs);
      return std::tuple(dys, 2.0 * s * ds + 0.0 * std::get<1>(r));
    });
inline constexpr auto use_scaled = fn<"use_scaled">([](auto xs, auto s) {
  auto const [ys, t] = scaled(xs, i64{3}, s);
  return sum(ys) * t;
});
inline constexpr auto squares = cotangent_rule(
    fn<"squares">([](auto xs, auto s) { return map([&](auto x) { return s * x * x; }, xs); }),
    [](auto, auto xs, auto s, auto c) {
      return std::tuple(
          map([&](auto x, auto each) { return 2.0 * s * x * each; }, xs, c),
          sum(map([](auto x, auto each) { return x * x * each; }, xs, c)));
    });
inline constexpr auto use_squares =
    fn<"use_squares">([](auto xs, auto s) { return dot(squares(xs, s), xs); });

TEST_CASE("test_derivative accepts every rule") {
  auto const holds = [](derivative_report const& r) {
    INFO(r.text());
    CHECK(r);
    CHECK(r.checks > 10);
  };
  holds(test_derivative(radius, 0.8, 0.3));
  holds(test_derivative(kepler, 0.8, 0.3));
  holds(test_derivative(use_scaled, array<double>{1.0, -2.0, 0.5}, 1.5));
  holds(test_derivative(scaled, array<double>{1.0, -2.0, 0.5}, 3, 1.5));
  holds(test_derivative(use_squares, array<double>{1.0, -2.0, 0.5}, 1.5));
  holds(test_derivative(squares, array<double>{1.0, -2.0, 0.5}, 1.5));
}

inline constexpr auto orbit = fn<"orbit">([](auto mean, auto e) {
  auto const last = loop(i64{5}, mean, [&](auto, auto m) { return kepler(m, e) * e + mean; });
  return if_(
      last > 0.0, [&] { return kepler(last, e); }, [&] { return last; });
});

TEST_CASE("rules apply in loops, branches and maps") {
  CHECK(test_derivative(orbit, 0.5, 0.3));
  {
    constexpr auto all =
        fn<"all">([](auto ms, auto e) { return sum(map([&](auto m) { return kepler(m, e); }, ms)); });
    CHECK(test_derivative(all, array<double>{0.1, 0.9, 2.0}, 0.4));
  }
}

} // namespace
