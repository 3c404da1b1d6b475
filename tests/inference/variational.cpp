// Variational inference: the mean-field optimum of normal targets is known.
#include "catch.hpp"
#include "inference/targets.hpp"

#include <overdub/inference/particles.hpp>
#include <overdub/inference/variational.hpp>

#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

namespace {

using namespace overdub::inference;
using overdub::random_key;

// Independent, with means and standard deviations of very different scales.
struct scaled_normal {
  std::vector<double> means{3, -2000, 0.01, 0}, sds{1, 50, 0.001, 20};
  std::size_t dimension() const { return means.size(); }
  double operator()(std::span<double const> q, std::span<double> gradient) const {
    double sum = 7;
    for (std::size_t i = 0; i < means.size(); ++i) {
      double const z = (q[i] - means[i]) / sds[i];
      gradient[i] = -z / sds[i];
      sum -= 0.5 * z * z;
    }
    return sum;
  }
};

} // namespace

TEST_CASE("the fit of independent normal coordinates is exact, with the logarithm of their integral") {
  scaled_normal const target;
  variational_fit const fit = approximate(target, {}, random_key(1));
  CHECK(fit.converged);
  double log_integral = 7;
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(fit.means()[i] == Approx(target.means[i]).margin(0.02 * target.sds[i]));
    CHECK(fit.sds()[i] == Approx(target.sds[i]).epsilon(0.02));
    log_integral += std::log(target.sds[i]) + 0.5 * std::log(2 * std::numbers::pi);
  }
  CHECK(fit.elbo.back() == Approx(log_integral).margin(0.01));
  CHECK(fit.elbo.size() == 1 + fit.iterations / 100);
}

TEST_CASE("standard deviations of correlated coordinates are those of conditional distributions") {
  constexpr double rho = 0.7;
  variational_fit const fit = approximate(targets::correlated_normal{5, rho}, {}, random_key(2));
  CHECK(fit.converged);
  for (std::size_t i = 0; i < 5; ++i) { // the inverse of the precision's diagonal
    double const precision = (i == 0 || i == 4 ? 1 : 1 + rho * rho) / (1 - rho * rho);
    double const sd = static_cast<double>(i + 1) / std::sqrt(precision);
    CHECK(fit.sds()[i] == Approx(sd).epsilon(0.03));
    CHECK(fit.means()[i] == Approx(0).margin(0.05 * sd));
  }
}

TEST_CASE("a fit depends on the key alone, and its draws have its density") {
  variational_settings const settings{.iterations = 250};
  variational_fit const fit = approximate(scaled_normal{}, settings, random_key(1));
  CHECK(fit.means() == approximate(scaled_normal{}, settings, random_key(1)).means());
  CHECK(fit.means() != approximate(scaled_normal{}, settings, random_key(2)).means());
  CHECK((!fit.converged && fit.iterations == 250 && fit.elbo.size() == 4));
  mean_field const q({1, -2}, {0.5, 3});
  CHECK(
      q.log_density(std::vector{1.5, -2.0}) == Approx(-0.5 - std::log(2 * std::numbers::pi) - std::log(1.5)));
  // The mean importance weight of its draws is 1.
  auto const weighted = importance_sample(
      [&](random_key const& key) {
        std::vector<double> x = q.draw(key);
        double const log_weight = mean_field({1.2, -1}, {0.4, 2}).log_density(x) - q.log_density(x);
        return std::pair(std::move(x), log_weight);
      },
      20000, random_key(3));
  CHECK(weighted.log_evidence == Approx(0).margin(0.03));
  CHECK(weighted.mean([](std::vector<double> const& x) { return x[1]; }) == Approx(-1).margin(0.08));
}

TEST_CASE("improper targets, and ones that are not finite, are rejected with a diagnostic") {
  struct flat {
    std::size_t dimension() const { return 2; }
    double operator()(std::span<double const> q, std::span<double> gradient) const {
      gradient[0] = -q[0];
      gradient[1] = 0;
      return -0.5 * q[0] * q[0];
    }
  };
  CHECK_THROWS_WITH(
      approximate(flat{}, {}, random_key(1)),
      Catch::Contains("the deviation of coordinate 2 of the approximation became"));
  struct cut_off : targets::standard_normal {
    double operator()(std::span<double const> q, std::span<double> gradient) const {
      double const d = targets::standard_normal::operator()(q, gradient);
      return q[0] > -1 ? d : -std::numeric_limits<double>::infinity();
    }
  };
  CHECK_THROWS_WITH(
      approximate(cut_off{}, {.iterations = 300}, random_key(1)),
      Catch::Contains("overdub: the evidence lower bound is -inf"));
  CHECK_THROWS_WITH(
      approximate(cut_off{}, {.initial = {-100}}, random_key(1)),
      Catch::Contains(
          "overdub: iteration 1: the log density and its gradient are finite at none of 10 draws"));
  CHECK_THROWS_WITH(
      approximate(cut_off{}, {.initial = {1, 2}}, random_key(1)), Catch::Contains("of 2 numbers"));
  CHECK_THROWS_WITH(approximate(cut_off{}, {.step = 0}, random_key(1)), Catch::Contains("a step size of 0"));
  CHECK_THROWS_WITH(
      approximate(cut_off{}, {.gradient_draws = 0}, random_key(1)), Catch::Contains("by no draws"));
  struct throwing : targets::standard_normal {
    double operator()(std::span<double const>, std::span<double>) const {
      throw std::runtime_error("its own");
    }
  };
  CHECK_THROWS_WITH(approximate(throwing{}, {}, random_key(1)), "its own");
}
