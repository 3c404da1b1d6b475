// Run by clang: its functions are rewritten in contexts of many kinds.
//
// Functions with a derivative rule, in contexts outside and inside of the differentiating one.
#include "catch.hpp"

#include <overdub/contexts/count.hpp>
#include <overdub/contexts/forward.hpp>
#include <overdub/execute/interpreter.hpp>
#include <overdub/forward_program.hpp>
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

using counted = contexts::count_of<decltype(kepler), decltype(solve), overdub::div_t>;

TEST_CASE("rules apply in contexts outside and inside of the differentiating one") {
  counted c;
  auto const r = run(compose(c, forward{}), radius, tag(0.8, 1.0), 0.3);
  CHECK(r.metadata == run(forward{}, radius, tag(0.8, 1.0), 0.3).metadata);
  CHECK(c(kepler) == 1);
  CHECK(c(solve) == 1);
  CHECK(c(overdub::div) == 0); // the rule runs in forward alone

  counted inside;
  (void)run(compose(forward{}, inside), radius, tag(0.8, 1.0), 0.3);
  CHECK(inside(solve) == 1);
  CHECK(inside(overdub::div) == 1);

  counted around;
  constexpr auto slope = fn<"slope">([](auto x) { return gradient(doubled_slope)(x); });
  CHECK(run(around, slope, 3.0) == 12.0);
}

TEST_CASE("a context rewrites a program and keeps its rules") {
  ir::program const p = stage(radius, signature<double, double>);
  contexts::count c;
  auto const f = executable(forward_of(p));
  auto const [y, dy] = f.call<std::tuple<double, double>>(0.8, 1.0, 0.3, 0.0);
  CHECK(dy == run(forward{}, radius, tag(0.8, 1.0), 0.3).metadata);
  ir::program const in_both = ::overdub::overdub(compose(c, forward{}), p);
  CHECK(print(in_both).find("call @kepler.tangent") != std::string::npos);
  ir::program once = ::overdub::overdub(c, p);
  CHECK(print(once).find("tangent @kepler") != std::string::npos);
}

} // namespace
