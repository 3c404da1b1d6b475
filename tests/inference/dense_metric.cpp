// The dense metric: its adaptation, and its effect on correlated targets.
#include "catch.hpp"
#include "inference/targets.hpp"

#define EIGEN_RUNTIME_NO_MALLOC

#include <overdub/contexts/profile/allocations.hpp>
#include <overdub/inference/chains.hpp>
#include <overdub/inference/dense_metric.hpp>
#include <overdub/inference/diagnostics.hpp>

#include <cmath>
#include <cstddef>
#include <random>
#include <vector>

namespace {

using namespace overdub::inference;
using targets::correlated_normal;

std::vector<double> const inverse = {2.0, 0.6, 0.6, 0.5};

} // namespace

TEST_CASE(
    "momenta have the inverse of the inverse metric as their covariance, and velocities are their products") {
  dense_metric const m(2, inverse);
  std::mt19937_64 generator(1);
  std::vector<double> p(2), v(2);
  double squares[3] = {};
  int const n = 40000;
  for (int i = 0; i < n; ++i) {
    m.draw_momentum(generator, p);
    squares[0] += p[0] * p[0] / n;
    squares[1] += p[0] * p[1] / n;
    squares[2] += p[1] * p[1] / n;
  }
  double const determinant = 2.0 * 0.5 - 0.36;
  CHECK(squares[0] == Approx(0.5 / determinant).epsilon(0.05));
  CHECK(squares[1] == Approx(-0.6 / determinant).epsilon(0.05));
  CHECK(squares[2] == Approx(2.0 / determinant).epsilon(0.05));
  m.velocity(std::vector<double>{1, -1}, v);
  CHECK(v == std::vector<double>{1.4, 0.6 - 0.5});
}

TEST_CASE("the dense metric adapts to covariances, regularised towards 0.001 with the weight of five draws") {
  dense_metric::estimator e(2);
  std::vector<std::vector<double>> const points = {{1, 10}, {2, 8}, {4, 1}, {7, 3}, {11, 2}};
  for (auto const& q : points) e.add(q);
  dense_metric m(2);
  m.adapt(e);
  // Means 5 and 4.8; sums of products about them 66, 62.8 and -47.
  CHECK(m.inverse()[0] == Approx(0.5 * 66 / 4 + 0.5e-3));
  CHECK(m.inverse()[1] == Approx(0.5 * -47 / 4));
  CHECK(m.inverse()[2] == m.inverse()[1]);
  CHECK(m.inverse()[3] == Approx(0.5 * 62.8 / 4 + 0.5e-3));
  std::vector<double> const before(m.inverse().begin(), m.inverse().end());
  e.add(std::vector<double>{1, std::nan("")});
  m.adapt(e);
  CHECK(std::vector<double>(m.inverse().begin(), m.inverse().end()) == before);
}

TEST_CASE("NUTS with a dense metric: the moments, in shorter trajectories than with a diagonal one") {
  correlated_normal const target{5, 0.98};
  draws const dense = sample<dense_metric>(target, {.seed = 2}), diagonal = sample(target, {.seed = 2});
  for (std::size_t i = 0; i < 5; ++i) {
    chain_values const x = dense.column("q." + std::to_string(i + 1));
    double const sd = static_cast<double>(i + 1);
    CHECK(std::abs(diagnosing::mean(x.values)) < 4 * mcse_mean(x));
    CHECK(std::abs(std::sqrt(diagnosing::variance(x.values)) - sd) < 4 * mcse_sd(x));
  }
  CHECK(dense.record(0).metric == "dense_e");
  CHECK(dense.record(0).inverse_metric[1] == Approx(2 * 0.98).epsilon(0.3));
  double const steps = diagnosing::mean(dense.column("n_leapfrog__").values);
  CHECK(steps < 10);
  CHECK(3 * steps < diagnosing::mean(diagonal.column("n_leapfrog__").values));
}

TEST_CASE("a transition with a dense metric allocates nothing") {
  if (!overdub::contexts::counts_allocations) return; // under a sanitizer
  nuts<correlated_normal, dense_metric> chain(correlated_normal{}, dense_metric(10));
  dense_metric::estimator e(10);
  std::mt19937_64 generator(1);
  REQUIRE(chain.start(std::vector<double>(10, 0.5)));
  chain.set_step_size(0.3);
  long const before = overdub::contexts::allocations_of_thread();
  Eigen::internal::set_is_malloc_allowed(false); // else it asserts
  for (int i = 0; i < 50; ++i) {
    (void)chain.transition(generator);
    e.add(chain.position());
  }
  Eigen::internal::set_is_malloc_allowed(true);
  CHECK(overdub::contexts::allocations_of_thread() == before);
}

TEST_CASE("an inverse metric that is no covariance is rejected") {
  using rows = std::vector<double>;
  CHECK_THROWS_AS(dense_metric(2, rows{1, 2, 3}), inference_error);
  CHECK_THROWS_AS(dense_metric(2, rows{1, 2, 0, 1}), inference_error);
  CHECK_THROWS_AS(dense_metric(2, rows{1, 2, 2, 1}), inference_error);
  CHECK_THROWS_AS(dense_metric(2, rows{1, 0, 0, std::nan("")}), inference_error);
}
