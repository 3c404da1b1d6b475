// Tests of samplers: correct ones pass, and the tests find and describe each planted mistake.
#include "catch.hpp"

#include <overdub/distributions/standard_draws.hpp>
#include <overdub/inference/calibration.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

namespace {

using namespace overdub::inference;
using overdub::random_generator;
using overdub::random_key;
using table = std::vector<std::vector<double>>;

// theta ~ N(0, 1), and three measurements of it with errors N(0, 1): the posterior is N(sum / 4, 1/4). Another parameter is
// independent of the data.
std::vector<double> prior(random_key const& key) {
  random_generator g(key);
  double const theta = overdub::distributions::draw_normal(g);
  return {theta, overdub::distributions::draw_normal(g)};
}
double measured(std::vector<double> const& theta, random_key const& key) {
  random_generator g(key);
  double sum = 0;
  for (int i = 0; i < 3; ++i) sum += theta[0] + overdub::distributions::draw_normal(g);
  return sum;
}
// The exact sampler with a shift, and a factor of its standard deviation.
auto posterior(double shift, double factor) {
  return [=](double sum, random_key const& key, std::size_t draws) {
    random_generator g(key);
    table all;
    for (std::size_t i = 0; i < draws; ++i) {
      double const z = overdub::distributions::draw_normal(g);
      all.push_back({sum / 4 + shift + factor * 0.5 * z, overdub::distributions::draw_normal(g)});
    }
    return all;
  };
}
calibration calibrated(double shift, double factor, calibration_settings settings = {}) {
  settings.names = {"theta", "other"};
  return simulation_based_calibration(prior, measured, posterior(shift, factor), settings, random_key(3));
}

// rate ~ Gamma(3, 1), and a count ~ Poisson(rate): the posterior is Gamma(3 + count, 2).
struct counted {
  double rate = 1;
  int count = 0;
};
void count_anew(counted& s, random_key const& key) {
  random_generator g(key);
  s.count = 0;
  for (double t = 0; (t += overdub::distributions::draw_exponential(g)) < s.rate;) ++s.count;
}
counted joint(random_key const& key) {
  random_generator g(key.at("rate"));
  counted s;
  s.rate = overdub::distributions::draw_large_gamma(g, 3);
  count_anew(s, key.at("count"));
  return s;
}
std::vector<double> moments(counted const& s) { return {s.rate, s.rate * s.rate, s.rate * s.count}; }

// Metropolis on the logarithm of the rate, with the Jacobian or without.
auto walk(bool with_jacobian) {
  return [=](counted& s, random_key const& key) {
    random_generator g(key);
    double const there = s.rate * std::exp(2 * g.uniform() - 1);
    double const power = 2 + s.count + (with_jacobian ? 1 : 0);
    double const ratio = power * std::log(there / s.rate) - 2 * (there - s.rate);
    if (std::log(g.uniform()) < ratio) s.rate = there;
  };
}
// Proposals from the prior, with the ratio of their densities or without it.
auto independent(bool with_ratio) {
  return [=](counted& s, random_key const& key) {
    random_generator g(key);
    double const there = overdub::distributions::draw_large_gamma(g, 3);
    double const change = std::log(there / s.rate), likelihood = s.count * change - (there - s.rate);
    double const prior = 2 * change - (there - s.rate);
    if (std::log(g.uniform()) < likelihood + (with_ratio ? 0 : prior)) s.rate = there;
  };
}
joint_test tested(auto const& transition) {
  return geweke_joint_test(
      joint, transition, count_anew, moments, {.names = {"rate", "square", "product"}}, random_key(5));
}

} // namespace

TEST_CASE("an exact sampler is calibrated") {
  calibration const c = calibrated(0, 1);
  CHECK(c.passed());
  CHECK((c.p_value("theta") > 0.01 && c.p_value("other") > 0.01));
  CHECK(c.ranks("theta").size() == 1000);
  CHECK_THROWS_WITH(c.p_value("x"), "overdub: nothing that was checked is called x");
}

TEST_CASE("p-values of exact samplers are uniform themselves") {
  double sum = 0, least = 1;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    auto const of_prior = [](random_key const& key) { return std::vector{random_generator(key).uniform()}; };
    auto const same = [](double, random_key const& key, std::size_t n) {
      random_generator g(key);
      table all;
      for (std::size_t i = 0; i < n; ++i) all.push_back({g.uniform()});
      return all;
    };
    double const p = simulation_based_calibration(
                         of_prior, [](std::vector<double> const&, random_key const&) { return 0.0; }, same,
                         {.simulations = 200, .draws = 9, .bins = 5}, random_key(seed))
                         .p_value("theta.1");
    sum += p;
    least = std::min(least, p);
  }
  CHECK(sum / 100 == Approx(0.5).margin(0.1));
  CHECK((least > 1e-4 && least < 0.1));
}

TEST_CASE(
    "samplers that are too narrow, too wide or biased are detected, and only in the affected parameter") {
  auto const found = [](double shift, double factor, char const* what) {
    calibration const c = calibrated(shift, factor);
    CHECK_FALSE(c.passed());
    CHECK(c.p_value("theta") < 1e-6);
    REQUIRE(c.findings().size() == 1);
    CHECK(
        c.findings()[0] ==
        std::string("the draws of theta are not those of the posterior: they are ") + what);
  };
  found(0, 0.8, "too narrow, or depend on each other (ranks pile up at the ends)");
  found(0, 1.25, "too wide (ranks pile up in the middle)");
  found(0.15, 1, "too high (ranks are low)");
  found(-0.15, 1, "too low (ranks are high)");
}

TEST_CASE("autocorrelated draws are detected, and ties pass") {
  // Each draw 16 times.
  auto const repeated = [](double sum, random_key const& key, std::size_t n) {
    table all = posterior(0, 1)(sum, key, n);
    for (std::size_t i = 0; i < n; ++i) all[i] = all[i / 16 * 16];
    return all;
  };
  CHECK_FALSE(simulation_based_calibration(prior, measured, repeated, {}, random_key(3)).passed());
  // Integers of one distribution: ranks are uniform if ties are broken at random.
  auto const die = [](random_generator& g) { return std::floor(3 * g.uniform()); };
  auto const throws = [&](double, random_key const& key, std::size_t n) {
    random_generator g(key);
    table all;
    for (std::size_t i = 0; i < n; ++i) all.push_back({die(g)});
    return all;
  };
  auto const thrown = [&](random_key const& key) {
    random_generator g(key);
    return std::vector<double>{die(g)};
  };
  auto const nothing = [](std::vector<double> const&, random_key const&) { return 0.0; };
  CHECK(simulation_based_calibration(thrown, nothing, throws, {}, random_key(3)).passed());
}

TEST_CASE("calibration is the same on any number of threads, and is written as a table") {
  std::ostringstream one, three;
  one << calibrated(0, 0.8);
  three << calibrated(0, 0.8, {.threads = 3});
  CHECK(one.str() == three.str());
  CHECK(one.str().starts_with("       mean rank    p-value\ntheta "));
  CHECK(one.str().find("\nother ") != std::string::npos);
  CHECK(one.str().ends_with("(ranks pile up at the ends)\n"));
}

TEST_CASE("invalid calibrations are rejected with a diagnostic") {
  auto const refused = [](calibration_settings const& s, char const* why) {
    CHECK_THROWS_WITH(calibrated(0, 1, s), Catch::Contains(why));
  };
  refused({.draws = 62}, "63 ranks, one more than draws, in 16 bins");
  refused({.simulations = 10}, "10 simulations for 16 bins of ranks");
  refused({.false_alarm = 0}, "a probability of 0 of a false alarm");
  auto const by = [](auto const& sampler) {
    (void)simulation_based_calibration(prior, measured, sampler, {.names = {"a"}}, random_key(1));
  };
  auto const all = [](std::size_t rows, std::vector<double> const& row) {
    return [=](double, random_key const&, std::size_t) { return table(rows, row); };
  };
  CHECK_THROWS_WITH(
      by(all(3, {1, 2})), "overdub: simulation 0: 63 draws were requested, and the sampler returned 3");
  CHECK_THROWS_WITH(
      by(all(63, {1})), "overdub: simulation 0: the sampler's draw has 1 parameters, and the prior's 2");
  CHECK_THROWS_WITH(by(all(63, {1, std::nan("")})), "overdub: simulation 0: parameter 2 is NaN");
  CHECK_THROWS_WITH(by(all(63, {1, 2})), "overdub: 1 names for 2 numbers to check");
}

TEST_CASE("correct transitions leave the joint distribution invariant") {
  joint_test const by_walk = tested(walk(true)), by_prior = tested(independent(true));
  CHECK((by_walk.passed() && by_prior.passed()));
  CHECK(by_walk["rate"].simulated == Approx(3).epsilon(0.05)); // Gamma(3, 1)
  CHECK(by_walk["square"].sampled == Approx(12).epsilon(0.1));
  for (auto const& r : by_walk.rows()) CHECK(std::abs(r.z) < 3);
}

TEST_CASE("differences of correct transitions, divided by their standard errors, are standard normal") {
  double squares = 0, greatest = 0;
  constexpr std::uint64_t runs = 200;
  for (std::uint64_t seed = 0; seed < runs; ++seed) {
    joint_test const t = geweke_joint_test(
        joint, walk(true), count_anew, [](counted const& s) { return std::vector<double>{s.rate}; },
        {.simulations = 200, .iterations = 250}, random_key(seed));
    squares += t["theta.1"].z * t["theta.1"].z / runs;
    greatest = std::max(greatest, std::abs(t["theta.1"].z));
  }
  CHECK(squares == Approx(1).margin(0.35)); // its standard deviation is 0.1
  CHECK(greatest < 4.5);
}

TEST_CASE("Holm's correction rejects step by step, with thresholds that depend on the number of hypotheses") {
  using calibrating::holm;
  using verdicts = std::vector<bool>;
  CHECK(holm(std::vector{0.5, 0.02, 0.01}, 0.05) == verdicts{false, true, true}); // 3 x 0.01 and 2 x 0.02
  CHECK(holm(std::vector{0.01, 0.03, 0.04}, 0.05) == verdicts{true, false, false});
  CHECK(holm(std::vector{0.02, 0.04}, 0.05) == verdicts{true, true});
  CHECK(holm(std::vector{0.03, 0.001, 0.04}, 0.05) == verdicts{false, true, false});
  CHECK(holm(std::vector<double>{}, 0.05).empty());
}

TEST_CASE("a missing Jacobian and a missing ratio of proposals are detected") {
  for (joint_test const& t : {tested(walk(false)), tested(independent(false))}) {
    CHECK_FALSE(t.passed());
    CHECK(t["rate"].p_value < 1e-6);
    CHECK(t.findings().size() == 3);
  }
  std::ostringstream out;
  out << tested(walk(false));
  CHECK(out.str().starts_with("         simulated    sampled          z    p-value\nrate "));
  CHECK(out.str().find("\nthe sampler's rate is too low (") != std::string::npos);
  CHECK(out.str().find(" effective draws)") != std::string::npos);
  CHECK(tested(walk(false))["rate"].effective > 100);
}

TEST_CASE("data from another model than the sampler's are detected") {
  auto const half = [](counted& s, random_key const& key) {
    counted other{.rate = s.rate / 2};
    count_anew(other, key);
    s.count = other.count;
  };
  joint_test const t = geweke_joint_test(joint, walk(true), half, moments, {}, random_key(5));
  CHECK_FALSE(t.passed());
  CHECK(t["theta.3"].p_value < 1e-6);
}

TEST_CASE("joint tests are the same on any number of threads, and reject invalid input") {
  auto const on = [](unsigned threads) {
    return geweke_joint_test(
        joint, walk(true), count_anew, moments, {.simulations = 100, .iterations = 50, .threads = threads},
        random_key(2));
  };
  CHECK(on(1)["theta.2"].z == on(3)["theta.2"].z);
  auto const with = [](auto const& statistics, joint_test_settings const& settings) {
    return geweke_joint_test(joint, walk(true), count_anew, statistics, settings, random_key(2));
  };
  auto const constant = [](counted const&) { return std::vector<double>{7}; };
  CHECK(with(constant, {})["theta.1"].z == 0);
  CHECK_THROWS_WITH(with(constant, {.iterations = 5}), Catch::Contains("4 chains of 5 iterations"));
  auto const infinite = [](counted const& s) { return std::vector<double>{1 / (s.count * 0.0)}; };
  CHECK_THROWS_WITH(with(infinite, {}), Catch::Contains("the statistic theta.1 is"));
  auto const growing = [](counted const& s) {
    return std::vector<double>(static_cast<std::size_t>(s.count), 1.0);
  };
  CHECK_THROWS_WITH(with(growing, {}), Catch::Contains("statistics of a state, and"));
}
