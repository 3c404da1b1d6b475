// Native functions with side effects in a model: its posterior calls them at each point, with the values of the point.
#include "catch.hpp"

#include <overdub/distributions.hpp>
#include <overdub/models/model.hpp>
#include <overdub/models/posterior.hpp>
#include <overdub/overdub.hpp>

#include <cmath>
#include <vector>

namespace {

namespace od = overdub;
namespace ds = overdub::distributions;

std::vector<double> noted;
int reads = 0;

inline constexpr auto note = od::leaf<"note">([](double x) { noted.push_back(x); });
inline constexpr auto offset = od::leaf<"offset">([](double x) {
  ++reads;
  return x + 1.0;
});

inline constexpr auto line = od::fn<"line">([](od::scope auto& cx, auto const& xs, auto shift) {
  auto const slope = cx(od::sample<"slope">, ds::normal(0, 2));
  note(slope);
  note(shift);
  auto const level = offset(shift); // it depends on an argument alone
  od::map([&](auto x) { return cx(od::sample<"y">, ds::normal(slope * x + level, 1)); }, xs);
  return slope;
});

} // namespace

TEST_CASE("the posterior of a model calls its native functions at each point") {
  auto const m = od::models::model(line, od::array<double>{1, 2, 3}, 0.5);
  auto target = od::models::posterior(m, {{"y", od::array<double>{1, 2, 3.5}}});
  noted.clear();
  reads = 0;
  for (double const slope : {0.5, -1.0, 2.0}) {
    double gradient = 0, density = -0.125 * slope * slope, expected = -0.25 * slope;
    for (auto const& [x, y] : {std::pair(1.0, 1.0), std::pair(2.0, 2.0), std::pair(3.0, 3.5)}) {
      double const error = y - slope * x - 1.5;
      density -= 0.5 * error * error;
      expected += error * x;
    }
    double const constant = -std::log(2.0) - 2.0 * std::log(2 * 3.14159265358979324);
    CHECK(target({&slope, 1}, {&gradient, 1}) == Approx(density + constant));
    CHECK(gradient == Approx(expected));
    CHECK(noted == std::vector{slope, 0.5});
    CHECK(reads == 1);
    noted.clear();
    reads = 0;
  }
}
