// Elliptical slice sampling: the posterior of a normal likelihood is known, and a transition leaves it invariant.
#include "catch.hpp"

#include <overdub/inference/elliptical_slice.hpp>
#include <overdub/random.hpp>

#include <boost/math/special_functions/gamma.hpp>

#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

namespace {

using namespace overdub::inference;
using overdub::random_generator;
using overdub::random_key;

// x ~ N((1, -2), ((1, 0.8), (0.8, 1))).
constexpr std::array<double, 2> mean = {1, -2};
void prior(std::span<double> out, random_generator& g) {
  double const a = drawing::normal(g), b = drawing::normal(g);
  out[0] = mean[0] + a;
  out[1] = mean[1] + 0.8 * a + 0.6 * b;
}
// x[0] was measured as 3, with variance 0.25.
double likelihood(std::span<double const> x) { return -2 * (3 - x[0]) * (3 - x[0]); }

} // namespace

TEST_CASE("elliptical slice sampling has the exact normal posterior") {
  random_generator g(random_key(2));
  std::vector<double> x = {0, 0};
  double first = 0, second = 0, squares = 0, product = 0;
  int evaluations = 0;
  constexpr int n = 40000;
  for (int i = 0; i < n; ++i) {
    slice_statistics const s = elliptical_slice(x, mean, prior, likelihood, g);
    REQUIRE(s.log_likelihood == likelihood(x));
    evaluations += s.evaluations;
    first += x[0] / n;
    second += x[1] / n;
    squares += x[0] * x[0] / n;
    product += x[0] * x[1] / n;
  }
  // Of the conjugate normal: the gain is 1 / (1 + 0.25).
  CHECK(first == Approx(2.6).margin(0.02));
  CHECK(second == Approx(-2 + 0.8 * 1.6).margin(0.03));
  CHECK(squares - first * first == Approx(0.2).margin(0.01));
  CHECK(product - first * second == Approx(0.16).margin(0.01));
  CHECK((evaluations > 2 * n && evaluations < 8 * n));
}

TEST_CASE("after a transition from exact draws of the posterior, draws are exact") {
  random_generator g(random_key(3));
  int const n = 20000;
  std::array<double, 20> counts{};
  for (int i = 0; i < n; ++i) {
    std::vector<double> x(2);
    prior(x, g);
    // The posterior, by Matheron's rule: a draw of the prior is corrected by its difference to a noisy measurement.
    double const missed = 3 + 0.5 * drawing::normal(g) - x[0];
    x[0] += 0.8 * missed;
    x[1] += 0.8 * 0.8 * missed;
    (void)elliptical_slice(x, mean, prior, likelihood, g);
    double const u = 0.5 * std::erfc(-(x[0] - 2.6) / std::sqrt(2 * 0.2));
    ++counts[static_cast<std::size_t>(u * 20)];
  }
  double sum = 0;
  for (double const c : counts) sum += (c - n / 20.0) * (c - n / 20.0) / (n / 20.0);
  CHECK(boost::math::gamma_q(9.5, sum / 2) > 0.001); // 19 degrees of freedom
}

TEST_CASE("a likelihood may be 0 or NaN nearly everywhere, and must be finite at the initial point") {
  random_generator g(random_key(4));
  std::vector<double> x = {1, -2};
  bool inside = true;
  auto const cut = [&](std::span<double const> at) {
    if (at[1] > 0) return std::nan("");
    return std::abs(at[0] - 1) < 0.01 ? 0.0 : -std::numeric_limits<double>::infinity();
  };
  for (int i = 0; i < 1000; ++i) {
    (void)elliptical_slice(x, mean, prior, cut, g);
    inside = inside && std::abs(x[0] - 1) < 0.01 && x[1] <= 0;
  }
  CHECK(inside);
  x[0] = 2;
  CHECK_THROWS_WITH(
      elliptical_slice(x, mean, prior, cut, g),
      "overdub: the log likelihood is -inf where the slice begins: begin where it is finite");
  x[0] = 1;
  int calls = 0;
  auto const falls = [&](std::span<double const>) { return static_cast<double>(-1000 * calls++); };
  CHECK_THROWS_WITH(elliptical_slice(x, mean, prior, falls, g), Catch::Contains("at the same point"));
  CHECK(x[0] == 1);
  std::vector<double> longer(3);
  CHECK_THROWS_WITH(
      elliptical_slice(longer, mean, prior, cut, g), "overdub: a mean of 2 numbers for a point of 3");
}
