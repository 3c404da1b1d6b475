// The parts of Hamiltonian samplers: the integrator, initial points, the step size, the schedule of adaptation.
#include "catch.hpp"
#include "inference/targets.hpp"

#include <overdub/contexts/profile/allocations.hpp>
#include <overdub/inference/adaptation.hpp>
#include <overdub/inference/hmc.hpp>
#include <overdub/inference/nuts.hpp>

#include <cmath>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace {

using namespace overdub::inference;
using targets::correlated_normal;
using targets::standard_normal;

// A quartic well: its force is not linear, so that the leapfrog has errors of every order.
struct quartic {
  std::size_t dimension() const { return 2; }
  double operator()(std::span<double const> q, std::span<double> gradient) const {
    gradient[0] = -q[0] * q[0] * q[0] + 0.3 * q[1];
    gradient[1] = -q[1] + 0.3 * q[0];
    return -0.25 * q[0] * q[0] * q[0] * q[0] - 0.5 * q[1] * q[1] + 0.3 * q[0] * q[1];
  }
};

phase_point somewhere() {
  phase_point z(2);
  z.position = {0.7, -0.4};
  z.momentum = {1.1, 0.6};
  return z;
}

// The energy error after an integration time of 1.
double energy_error(int steps) {
  hamiltonian<quartic, diagonal_metric> h(quartic{}, diagonal_metric(2));
  phase_point z = somewhere();
  h.evaluate(z);
  double const before = h.energy(z);
  for (int i = 0; i < steps; ++i) h.leapfrog(z, 1.0 / steps);
  return std::abs(h.energy(z) - before);
}

} // namespace

TEST_CASE("the leapfrog is reversible") {
  std::vector<double> const inverse = {0.5, 2.0};
  hamiltonian<quartic, diagonal_metric> h(quartic{}, diagonal_metric(2, inverse));
  phase_point z = somewhere();
  h.evaluate(z);
  for (int i = 0; i < 50; ++i) h.leapfrog(z, 0.1);
  CHECK(std::abs(z.position[0] - 0.7) > 0.1);
  for (double& p : z.momentum) p = -p;
  for (int i = 0; i < 50; ++i) h.leapfrog(z, 0.1);
  CHECK(z.position[0] == Approx(0.7).margin(1e-12));
  CHECK(z.position[1] == Approx(-0.4).margin(1e-12));
  for (int i = 0; i < 50; ++i) h.leapfrog(z, -0.1);
  for (int i = 0; i < 50; ++i) h.leapfrog(z, 0.1);
  CHECK(z.momentum[0] == Approx(-1.1).margin(1e-12));
  CHECK(z.momentum[1] == Approx(-0.6).margin(1e-12));
}

TEST_CASE("the leapfrog preserves volume") {
  // The determinant of the Jacobian of some steps, by central differences.
  double jacobian[4][4];
  for (int column = 0; column < 4; ++column) {
    double end[2][4];
    for (int side = 0; side < 2; ++side) {
      hamiltonian<quartic, diagonal_metric> h(quartic{}, diagonal_metric(2));
      phase_point z = somewhere();
      (column < 2 ? z.position : z.momentum)[static_cast<std::size_t>(column % 2)] +=
          side == 0 ? -1e-5 : 1e-5;
      h.evaluate(z);
      for (int i = 0; i < 5; ++i) h.leapfrog(z, 0.4);
      for (int i = 0; i < 2; ++i) {
        end[side][i] = z.position[static_cast<std::size_t>(i)];
        end[side][i + 2] = z.momentum[static_cast<std::size_t>(i)];
      }
    }
    for (int row = 0; row < 4; ++row) jacobian[row][column] = (end[1][row] - end[0][row]) / 2e-5;
  }
  double determinant = 1;
  for (int k = 0; k < 4; ++k) {
    determinant *= jacobian[k][k];
    for (int i = k + 1; i < 4; ++i)
      for (int j = 3; j >= k; --j) jacobian[i][j] -= jacobian[k][j] * jacobian[i][k] / jacobian[k][k];
  }
  CHECK(determinant == Approx(1).epsilon(1e-6));
}

TEST_CASE("the leapfrog's energy error is of second order in the step") {
  CHECK(energy_error(20) > 1e-6);
  CHECK(energy_error(20) / energy_error(40) == Approx(4).epsilon(0.05));
  CHECK(energy_error(40) / energy_error(80) == Approx(4).epsilon(0.02));
}

TEST_CASE("momenta have the metric as their covariance") {
  std::vector<double> const inverse = {0.25, 4.0};
  diagonal_metric const m(2, inverse);
  std::mt19937_64 generator(1);
  std::vector<double> p(2), squares(2);
  for (int i = 0; i < 20000; ++i) {
    m.draw_momentum(generator, p);
    for (std::size_t k = 0; k < 2; ++k) squares[k] += p[k] * p[k] / 20000;
  }
  CHECK(squares[0] == Approx(4).epsilon(0.05));
  CHECK(squares[1] == Approx(0.25).epsilon(0.05));
}

TEST_CASE("a transition allocates nothing") {
  if (!overdub::contexts::counts_allocations) return; // under a sanitizer
  std::mt19937_64 generator(1);
  auto const made = [&](auto chain) {
    REQUIRE(chain.start(std::vector<double>(10, 0.5)));
    chain.set_step_size(0.3);
    adaptation<decltype(chain), diagonal_metric> adapting(chain, 150, {});
    adapting.begin(generator);
    long const before = overdub::contexts::allocations_of_thread();
    for (int i = 0; i < 150; ++i) adapting.learn(chain.transition(generator).accept_statistic, generator);
    return overdub::contexts::allocations_of_thread() - before;
  };
  CHECK(made(nuts<correlated_normal>(correlated_normal{}, diagonal_metric(10))) == 0);
  CHECK(made(hmc<correlated_normal>(correlated_normal{}, diagonal_metric(10))) == 0);
}

TEST_CASE("a chain cannot begin where the density or its gradient is not finite, and reports which one") {
  struct half_line {
    std::size_t dimension() const { return 2; }
    double operator()(std::span<double const> q, std::span<double> gradient) const {
      gradient[0] = -1;
      gradient[1] = std::sqrt(q[1]);
      return std::log(q[0]);
    }
  };
  nuts<half_line> chain(half_line{}, diagonal_metric(2));
  CHECK(chain.start(std::vector<double>{1, 1}));
  CHECK_FALSE(chain.start(std::vector<double>{0, 1}));
  CHECK(std::string(chain.failure().what()).find("the log density is -inf where") != std::string::npos);
  CHECK_FALSE(chain.start(std::vector<double>{1, -1}));
  CHECK(
      std::string(chain.failure().what()).find("element 2 of the log density's gradient is ") !=
      std::string::npos);
}

TEST_CASE("transitions beyond the boundary of the support are rejected, and counted as divergent") {
  struct box {
    std::size_t dimension() const { return 1; }
    double operator()(std::span<double const> q, std::span<double> gradient) const {
      gradient[0] = 0;
      return std::abs(q[0]) < 1 ? 0 : std::numeric_limits<double>::quiet_NaN();
    }
  };
  std::mt19937_64 generator(1);
  hmc<box> fixed(box{}, diagonal_metric(1), {.leapfrog_steps = 3});
  nuts<box> doubling(box{}, diagonal_metric(1));
  REQUIRE((fixed.start(std::vector<double>{0.0}) && doubling.start(std::vector<double>{0.0})));
  fixed.set_step_size(0.3);
  doubling.set_step_size(0.3);
  int rejected = 0, divergent = 0;
  bool inside = true;
  for (int i = 0; i < 1000; ++i) {
    sampler_statistics const s = fixed.transition(generator);
    rejected += s.accept_statistic == 0;
    inside = inside && std::abs(fixed.position()[0]) < 1;
    divergent += doubling.transition(generator).divergent;
    inside = inside && std::abs(doubling.position()[0]) < 1;
  }
  CHECK(inside);
  CHECK((rejected > 50 && rejected < 950));
  CHECK(divergent > 500); // each trajectory reaches a boundary
}

TEST_CASE("a transition of fixed length ends where the density is no longer finite, and counts its steps") {
  struct ends { // at 1, where the gradient, or the density, is NaN
    bool by_gradient = false;
    int* calls = nullptr;
    std::size_t dimension() const { return 1; }
    double operator()(std::span<double const> q, std::span<double> gradient) const {
      ++*calls;
      bool const inside = std::abs(q[0]) < 1;
      gradient[0] = inside || !by_gradient ? 0 : std::numeric_limits<double>::quiet_NaN();
      return inside || by_gradient ? 0 : -std::numeric_limits<double>::infinity();
    }
  };
  for (bool const by_gradient : {false, true}) {
    std::mt19937_64 generator(1);
    int calls = 0, left = 0;
    hmc<ends> chain(ends{by_gradient, &calls}, diagonal_metric(1), {.leapfrog_steps = 100});
    REQUIRE(chain.start(std::vector<double>{0.0}));
    chain.set_step_size(0.1);
    for (int i = 0; i < 50; ++i) {
      calls = 0;
      sampler_statistics const s = chain.transition(generator);
      CHECK(s.leapfrog_steps == calls);
      if (s.leapfrog_steps == 100) continue;
      ++left;
      CHECK((s.divergent && s.accept_statistic == 0 && std::isfinite(s.energy)));
    }
    CHECK(left > 40);
  }
}

TEST_CASE("a chain without an initial point makes no transition") {
  std::mt19937_64 generator(1);
  nuts<standard_normal> doubling(standard_normal{1}, diagonal_metric(1));
  hmc<standard_normal> fixed(standard_normal{1}, diagonal_metric(1));
  CHECK_THROWS_WITH(doubling.transition(generator), Catch::Contains("a chain goes on that did not begin"));
  CHECK_THROWS_WITH(doubling.find_step_size(generator), Catch::Contains("did not begin"));
  REQUIRE((fixed.start(std::vector<double>{1}) && doubling.start(std::vector<double>{1})));
  (void)fixed.transition(generator);
  std::vector<double> const nowhere = {std::numeric_limits<double>::infinity()};
  CHECK_FALSE((fixed.start(nowhere) || doubling.start(nowhere)));
  CHECK_THROWS_WITH(fixed.transition(generator), Catch::Contains("did not begin"));
  CHECK_THROWS_WITH(doubling.transition(generator), Catch::Contains("did not begin"));
}

TEST_CASE("the initial step size is one at which acceptance crosses 0.8, and an improper target has none") {
  std::mt19937_64 generator(3);
  for (double const scale : {1e-6, 1e-3, 1.0, 1e3}) {
    struct scaled {
      double scale;
      std::size_t dimension() const { return 1; }
      double operator()(std::span<double const> q, std::span<double> gradient) const {
        gradient[0] = -q[0] / (scale * scale);
        return -0.5 * q[0] * q[0] / (scale * scale);
      }
    };
    nuts<scaled> chain(scaled{scale}, diagonal_metric(1));
    REQUIRE(chain.start(std::vector<double>{scale}));
    chain.find_step_size(generator);
    CHECK(chain.step_size() > 0.1 * scale);
    CHECK(chain.step_size() < 20 * scale);
  }
  struct flat {
    std::size_t dimension() const { return 1; }
    double operator()(std::span<double const>, std::span<double> gradient) const {
      gradient[0] = 0;
      return 0;
    }
  };
  nuts<flat> endless(flat{}, diagonal_metric(1));
  REQUIRE(endless.start(std::vector<double>{0}));
  CHECK_THROWS_WITH(endless.find_step_size(generator), Catch::Contains("the target is improper"));
  struct once {
    bool called = false;
    std::size_t dimension() const { return 1; }
    double operator()(std::span<double const>, std::span<double> gradient) {
      gradient[0] = 0;
      return std::exchange(called, true) ? -std::numeric_limits<double>::infinity() : 0;
    }
  };
  nuts<once> lost(once{}, diagonal_metric(1));
  REQUIRE(lost.start(std::vector<double>{0}));
  CHECK_THROWS_WITH(lost.find_step_size(generator), Catch::Contains("no step is accepted, however small"));
}

TEST_CASE("the windows of adaptation are Stan's") {
  using ends = std::vector<std::size_t>;
  CHECK(window_schedule(1000, {}).ends() == ends{100, 150, 250, 450, 950});
  CHECK(window_schedule(150, {}).ends() == ends{100});
  CHECK(window_schedule(160, {}).ends() == ends{100, 110});
  CHECK(window_schedule(100, {}).ends() == ends{90}); // 15, 75, 10
  CHECK(window_schedule(20, {}).ends() == ends{18});
  CHECK(window_schedule(19, {}).ends() == ends{});
  CHECK(window_schedule(0, {}).ends() == ends{});
  window_schedule const s(1000, {});
  CHECK((!s.learns(74) && s.learns(75) && s.learns(949) && !s.learns(950)));
  CHECK((s.ends_window(99) && !s.ends_window(100) && s.ends_window(949)));
}

TEST_CASE("dual averaging finds the step size of the target acceptance") {
  // Acceptance falls with the step as exp(-step): 0.8 is at log(1.25).
  dual_averaging d({.target_acceptance = 0.8});
  d.restart(1);
  std::mt19937_64 generator(1);
  for (int i = 0; i < 2000; ++i)
    d.learn(std::exp(-d.step_size()) * (0.8 + 0.4 * drawing::uniform(generator)));
  CHECK(d.averaged() == Approx(std::log(1.25)).epsilon(0.05));
  d.restart(0.5);
  CHECK(d.averaged() == Approx(0.5));
  double const before = d.step_size();
  d.learn(std::numeric_limits<double>::quiet_NaN());
  double const after_nothing = d.step_size();
  CHECK(after_nothing != before);
  d.restart(0.5);
  d.learn(0);
  CHECK(d.step_size() == after_nothing);
}

TEST_CASE(
    "the diagonal metric adapts to variances, regularised towards 0.001 with the weight of five draws") {
  diagonal_metric::estimator e(2);
  for (double const x : {1.0, 2.0, 3.0, 4.0, 5.0}) e.add(std::vector<double>{x, 1e9 + x});
  CHECK(e.variance(0) == 2.5);
  CHECK(e.variance(1) == 2.5);
  diagonal_metric m(2);
  m.adapt(e);
  CHECK(m.inverse()[0] == Approx(0.5 * 2.5 + 0.5 * 1e-3));
  e.restart();
  e.add(std::vector<double>{std::numeric_limits<double>::infinity(), 1});
  e.add(std::vector<double>{1, 1});
  m.adapt(e);
  CHECK(m.inverse()[0] == Approx(0.5 * 2.5 + 0.5 * 1e-3));
  CHECK(m.inverse()[1] == Approx(1e-3 * 5 / 7));
}

TEST_CASE("invalid settings of Hamiltonian samplers are rejected") {
  CHECK_THROWS_AS(nuts<standard_normal>(standard_normal{2}, diagonal_metric(3)), inference_error);
  CHECK_THROWS_AS(
      nuts<standard_normal>(standard_normal{1}, diagonal_metric(1), {.max_depth = 0}), inference_error);
  CHECK_THROWS_AS(
      hmc<standard_normal>(standard_normal{1}, diagonal_metric(1), {.leapfrog_steps = 0}), inference_error);
  CHECK_THROWS_AS(
      hmc<standard_normal>(standard_normal{1}, diagonal_metric(1), {.leapfrog_steps = 1, .jitter = 1}),
      inference_error);
  CHECK_THROWS_AS(diagonal_metric(2, std::vector<double>{1.0}), inference_error);
  CHECK_THROWS_AS(diagonal_metric(2, std::vector<double>{1.0, 0.0}), inference_error);
}
