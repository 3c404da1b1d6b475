// A model whose covariance is factored by updates in place: the Gaussian process of Rasmussen & Williams, Gaussian Processes for Machine
// Learning (2006), algorithm 2.1, has the density and the gradient of its formula.
#include "catch.hpp"

#include <overdub/distributions.hpp>
#include <overdub/models.hpp>

#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace {

namespace od = overdub;
namespace ds = od::distributions;
namespace ms = od::models;

inline constexpr auto cholesky = od::fn<"cholesky">([](od::scope auto& cx, auto const& a) {
  auto const n = od::size(a);
  return cx(od::loop, n, od::fill(n, od::fill(n, 0.0)), [&](auto i, auto rows) {
    auto const row = cx(od::loop, i + 1, od::fill(n, 0.0), [&](auto j, auto r) {
      auto const x = od::if_(
          j == i, [&] { return od::sqrt(a[i][i] - od::dot(r, r)); },
          [&] { return (a[i][j] - od::dot(r, rows[j])) / rows[j][j]; });
      return od::update(std::move(r), j, x);
    });
    return od::update(std::move(rows), i, row);
  });
});

inline constexpr auto gaussian_process = od::fn<"gaussian_process">([](od::scope auto& cx, auto const& x) {
  auto const rho = cx(od::sample<"rho">, ds::gamma(25, 4));
  auto const alpha = cx(od::sample<"alpha">, ds::half_normal(2));
  auto const sigma = cx(od::sample<"sigma">, ds::half_normal(1));
  auto const n = od::size(x);
  auto const covariance = cx(od::tabulate, n, [&](auto i) {
    return cx(od::tabulate, n, [&](auto j) {
      auto const d = (x[i] - x[j]) / rho;
      return alpha * alpha * od::exp(-0.5 * (d * d)) + od::select(i == j, sigma, 0.0);
    });
  });
  return cx(od::sample<"y">, ds::multivariate_normal(od::fill(n, 0.0), cx(cholesky, covariance)));
});

struct observations {
  std::vector<double> x, y;
};
observations points(std::size_t n) {
  observations all;
  for (std::size_t i = 0; i < n; ++i) {
    auto const k = static_cast<double>(i);
    all.x.push_back(-10 + 20 * k / static_cast<double>(n - 1));
    all.y.push_back(3 + std::sin(all.x.back()) + 0.3 * std::cos(37 * k));
  }
  return all;
}

// The log density of the logarithms of rho, alpha and sigma, up to a constant.
double log_density(observations const& o, std::vector<double> const& q) {
  double const rho = std::exp(q[0]), alpha = std::exp(q[1]), sigma = std::exp(q[2]);
  std::size_t const n = o.x.size();
  std::vector<std::vector<double>> l(n, std::vector<double>(n));
  std::vector<double> solved(n); // L^-1 y
  double sum = 24 * q[0] - 4 * rho - alpha * alpha / 8 - sigma * sigma / 2 + q[0] + q[1] + q[2];
  for (std::size_t i = 0; i < n; ++i) {
    double y = o.y[i];
    for (std::size_t j = 0; j <= i; ++j) {
      double const d = (o.x[i] - o.x[j]) / rho;
      double left = alpha * alpha * std::exp(-0.5 * d * d) + (i == j ? sigma : 0);
      for (std::size_t k = 0; k < j; ++k) left -= l[i][k] * l[j][k];
      l[i][j] = i == j ? std::sqrt(left) : left / l[j][j];
      if (j < i) y -= l[i][j] * solved[j];
    }
    solved[i] = y / l[i][i];
    sum -= std::log(l[i][i]) + 0.5 * solved[i] * solved[i];
  }
  return sum;
}

std::vector<double> const start{1.5, 0.2, -0.7};

} // namespace

TEST_CASE("a model that factors its covariance by updates has the density and the gradient of its formula") {
  observations const o = points(24);
  auto const m = ms::model(gaussian_process, o.x);
  ms::posterior of(m, {{"y", o.y}});
  REQUIRE(of.names() == std::vector<std::string>{"rho", "alpha", "sigma"});
  std::vector<double> gradient(3), there(3);
  double const constant = of(start, gradient) - log_density(o, start);
  for (double const step : {-0.6, -0.1, 0.05, 0.4}) {
    std::vector<double> const q{start[0] + step, start[1] - step, start[2] + 2 * step};
    CHECK(of(q, there) - log_density(o, q) == Approx(constant).epsilon(1e-9));
  }
  for (std::size_t k = 0; k < 3; ++k) {
    // Richardson's extrapolation of central differences: an error of the fourth order in h.
    auto const slope = [&](double h) {
      std::vector<double> above = start, below = start;
      above[k] += h;
      below[k] -= h;
      return (log_density(o, above) - log_density(o, below)) / (2 * h);
    };
    CHECK(gradient[k] == Approx((4 * slope(5e-4) - slope(1e-3)) / 3).epsilon(1e-7));
  }
}
