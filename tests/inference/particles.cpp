// Weighted draws: resampling is unbiased, and particle filters estimate the evidence of Kalman's filter without bias.
#include "catch.hpp"

#include <overdub/distributions/standard_draws.hpp>
#include <overdub/inference/particles.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>
#include <numeric>
#include <stdexcept>
#include <utility>
#include <vector>

namespace {

using namespace overdub::inference;
using overdub::random_generator;
using overdub::random_key;
using overdub::distributions::draw_normal;

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr std::array schemes = {
    resampling::systematic, resampling::stratified, resampling::multinomial, resampling::residual};

double log_normal(double x, double variance) {
  return -0.5 * (std::log(2 * std::numbers::pi * variance) + x * x / variance);
}

// x[0] ~ N(0, 1), x[t] ~ N(0.9 x[t - 1], 0.25), y[t] ~ N(x[t], 0.5).
std::vector<double> const observed = {0.5, 1.2, -0.3, 0.1, 1.9, 2.2, 1.0, -0.7, -1.0, 0.2};

struct kalman {
  double log_evidence = 0, mean = 0, variance = 1;
  explicit kalman(std::size_t steps) {
    for (std::size_t t = 0; t < steps; ++t) {
      if (t > 0) {
        mean *= 0.9;
        variance = 0.81 * variance + 0.25;
      }
      double const error = observed[t] - mean, spread = variance + 0.5;
      log_evidence += log_normal(error, spread);
      mean += variance / spread * error;
      variance *= 0.5 / spread;
    }
  }
};

double begin(random_key const& key) {
  random_generator g(key);
  return draw_normal(g);
}
double extend(double& x, std::size_t t, random_key const& key) {
  random_generator g(key);
  if (t > 0) x = 0.9 * x + 0.5 * draw_normal(g);
  return log_normal(observed[t] - x, 0.5);
}

} // namespace

TEST_CASE("sums of exponentials neither overflow nor vanish") {
  std::vector<double> const none, high = {1000, 1000 + std::log(3)}, low = {-1000, -inf, -1000};
  CHECK(log_sum_exp(none) == -inf);
  CHECK(log_sum_exp(high) == Approx(1000 + std::log(4)));
  CHECK(log_sum_exp(low) == Approx(-1000 + std::log(2)));
  CHECK(std::isnan(log_sum_exp(std::vector{0.0, std::nan("")})));
  normalised_weights const w = normalise(high);
  CHECK((w.values[0] == Approx(0.25) && w.values[1] == Approx(0.75)));
  CHECK(w.log_mean() == Approx(1000 + std::log(2)));
  CHECK(effective_sample_size(high) == Approx(1 / (0.0625 + 0.5625)));
  CHECK(effective_sample_size(std::vector<double>(7, -3000)) == Approx(7));
}

TEST_CASE("weights sum to 1, however large or small the log weights are") {
  for (double const base : {0.0, -1e9, 1e9, -1e12, -1e15, 1e15}) {
    normalised_weights const w = normalise(std::vector{base, base, base + 1});
    double const e = std::exp(1.0);
    CHECK(w.values[0] == w.values[1]);
    CHECK(w.values[0] == Approx(1 / (2 + e)).epsilon(1e-14));
    CHECK(w.values[2] == Approx(e / (2 + e)).epsilon(1e-14));
    CHECK(w.effective_size == Approx((2 + e) * (2 + e) / (2 + e * e)).epsilon(1e-14));
  }
  CHECK(normalise(std::vector{-1e17, -1e17}).values == std::vector{0.5, 0.5});
}

TEST_CASE("indices are not drawn without weights") {
  for (resampling const scheme : schemes) {
    random_generator g(random_key(1));
    CHECK_THROWS_WITH(
        ancestors(scheme, {}, 3, g), "overdub: indices are drawn by weights, of which there are none");
  }
}

TEST_CASE("NaN weights count as 0 and are counted, and weights without a positive one are rejected") {
  normalised_weights const w = normalise(std::vector{std::nan(""), 2.0, -inf});
  CHECK((w.values == std::vector<double>{0, 1, 0} && w.not_a_number == 1 && w.log_sum == 2));
  CHECK_THROWS_WITH(
      normalise(std::vector{-inf, std::nan(""), std::nan("")}),
      Catch::Contains("no draw of 3 has a weight: log weights are NaN 2 times"));
  CHECK_THROWS_WITH(normalise({}), Catch::Contains("no draw of 0 has a weight"));
  CHECK_THROWS_WITH(normalise(std::vector{0.0, inf}), Catch::Contains("a log weight is infinite"));
}

TEST_CASE("the expected number of copies is proportional to the weight in each scheme, and 0 for weight 0") {
  std::vector<double> const weights = {0, 0.137, 0.021, 0.433, 0, 0.409, 0};
  constexpr int runs = 4000;
  constexpr std::size_t n = 20;
  for (resampling const scheme : schemes) {
    random_generator g(random_key(3).at(static_cast<int>(scheme)));
    std::vector<double> mean(7), square(7);
    bool ascending = true, floors = true, ceilings = true;
    for (int i = 0; i < runs; ++i) {
      std::vector<std::size_t> const drawn = ancestors(scheme, weights, n, g);
      REQUIRE(drawn.size() == n);
      ascending = ascending && std::ranges::is_sorted(drawn);
      std::vector<double> counts(7);
      for (std::size_t const a : drawn) ++counts[a];
      for (std::size_t k = 0; k < 7; ++k) {
        floors = floors && counts[k] >= std::floor(n * weights[k]);
        ceilings = ceilings && counts[k] <= std::ceil(n * weights[k]);
        mean[k] += counts[k] / runs;
        square[k] += counts[k] * counts[k] / runs;
      }
    }
    CHECK(ascending);
    CHECK((mean[0] == 0 && mean[4] == 0 && mean[6] == 0));
    for (std::size_t const k : {1U, 2U, 3U, 5U}) {
      double const expected = n * weights[k], deviation = std::sqrt(expected * (1 - weights[k]));
      CHECK(mean[k] == Approx(expected).margin(4.5 * deviation / std::sqrt(runs)));
      double const variance = square[k] - mean[k] * mean[k];
      if (scheme == resampling::multinomial)
        CHECK(variance == Approx(deviation * deviation).epsilon(0.15));
      else
        CHECK(variance < 0.95 * deviation * deviation);
    }
    CHECK(floors == (scheme == resampling::systematic || scheme == resampling::residual));
    CHECK(ceilings == (scheme == resampling::systematic));
  }
}

TEST_CASE("equal weights are drawn once each, and a single positive weight always") {
  std::vector<double> const equal(10, 0.1), one = {0, 0, 1, 0};
  std::vector<std::size_t> each(10);
  std::iota(each.begin(), each.end(), std::size_t{0});
  for (resampling const scheme : schemes) {
    random_generator g(random_key(1));
    if (scheme != resampling::multinomial) CHECK(ancestors(scheme, equal, 10, g) == each);
    CHECK(ancestors(scheme, one, 5, g) == std::vector<std::size_t>(5, 2));
    CHECK(ancestors(scheme, one, 0, g).empty());
  }
}

TEST_CASE("importance sampling has the evidence, the mean and draws of a normal posterior") {
  // x ~ N(0, 1), one observation of 1 with variance 1: the posterior is N(1/2, 1/2).
  auto const draw = [](random_key const& key) {
    random_generator g(key);
    double const x = draw_normal(g);
    return std::pair(x, x > 4 ? std::nan("") : log_normal(1 - x, 1));
  };
  auto const d = importance_sample(draw, 100000, random_key(8));
  CHECK(d.log_evidence == Approx(log_normal(1, 2)).margin(0.01));
  CHECK(d.mean([](double x) { return x; }) == Approx(0.5).margin(0.01));
  CHECK((d.not_a_number > 0 && d.not_a_number < 12)); // 3 are expected
  // E[w]² / E[w²] = N(1; 0, 2)² / (N(1; 0, 1.5) / sqrt(4 π)) for weights that are normal densities
  double const part = std::exp(2 * log_normal(1, 2) - log_normal(1, 1.5)) * std::sqrt(4 * std::numbers::pi);
  CHECK(d.effective_size() == Approx(100000 * part).epsilon(0.02));
  std::vector<double> const drawn = d.resample(10000, random_key(2));
  double mean = 0, square = 0;
  for (double const x : drawn) {
    mean += x / 10000;
    square += x * x / 10000;
  }
  CHECK(mean == Approx(0.5).margin(0.03));
  CHECK(square - mean * mean == Approx(0.5).margin(0.03));
  CHECK(
      importance_sample(draw, 1000, random_key(8), 3).log_weights ==
      importance_sample(draw, 1000, random_key(8)).log_weights);
}

TEST_CASE("values of particles of weight 0 are ignored") {
  auto const start = [](random_key const& k) { return random_generator(k).uniform(); };
  auto const extend = [](double& x, std::size_t t, random_key const&) {
    if (x >= 0.5) return 0.0;
    return t == 0 ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  };
  auto const f =
      particle_filter(start, extend, 3, {.particles = 200, .resample_below = 0, .threads = 1}, random_key(3));
  CHECK(f.not_a_number == 0);
  CHECK(f.log_evidence == Approx(std::log(0.5)).margin(0.2));
}

TEST_CASE("a particle filter has the evidence and the mean of a Kalman filter, with each scheme") {
  kalman const exact(observed.size());
  for (resampling const scheme : schemes)
    for (double const below : {0.5, 1.0}) {
      auto const f = particle_filter(
          begin, extend, observed.size(), {.particles = 10000, .resample_below = below, .scheme = scheme},
          random_key(6));
      CHECK(f.log_evidence == Approx(exact.log_evidence).margin(0.08));
      CHECK(f.mean([](double x) { return x; }) == Approx(exact.mean).margin(0.03));
      CHECK(f.log_evidence == Approx(std::accumulate(f.log_evidences.begin(), f.log_evidences.end(), 0.0)));
      CHECK((below == 1.0 ? f.resamplings == 9 : f.resamplings > 0 && f.resamplings < 9));
      CHECK(f.effective_sizes.size() == 10);
    }
}

TEST_CASE("estimates of the evidence by few particles are unbiased, with rejuvenation or without") {
  constexpr std::size_t steps = 5, runs = 5000;
  kalman const exact(steps);
  // An exact draw of x[t] given all else is a transition that leaves the distribution invariant: here, Metropolis' on the path.
  struct path {
    std::array<double, steps> x{};
  };
  auto const start = [](random_key const& key) { return path{{begin(key)}}; };
  auto const step = [](path& p, std::size_t t, random_key const& key) {
    if (t > 0) p.x[t] = p.x[t - 1];
    return extend(p.x[t], t, key);
  };
  auto const log_density = [](path const& p, std::size_t t) {
    double sum = log_normal(p.x[0], 1);
    for (std::size_t i = 0; i <= t; ++i) {
      if (i > 0) sum += log_normal(p.x[i] - 0.9 * p.x[i - 1], 0.25);
      sum += log_normal(observed[i] - p.x[i], 0.5);
    }
    return sum;
  };
  auto const move = [&](path& p, std::size_t t, random_key const& key) {
    random_generator g(key);
    path there = p;
    for (std::size_t i = 0; i <= t; ++i) there.x[i] += 0.4 * draw_normal(g);
    if (std::log(g.uniform()) < log_density(there, t) - log_density(p, t)) p = there;
  };
  for (bool const moves : {false, true})
    for (resampling const scheme : schemes) {
      double mean = 0, square = 0;
      for (std::size_t run = 0; run < runs; ++run) {
        filter_settings const settings{.particles = 8, .resample_below = 0.7, .scheme = scheme};
        random_key const key = random_key(9).at(run);
        double const z = moves ? particle_filter(start, step, steps, settings, key, move).log_evidence
                               : particle_filter(start, step, steps, settings, key).log_evidence;
        double const ratio = std::exp(z - exact.log_evidence);
        mean += ratio / runs;
        square += ratio * ratio / runs;
      }
      CHECK(mean == Approx(1).margin(4.5 * std::sqrt((square - mean * mean) / runs)));
      CHECK(square - mean * mean < 2); // the test can detect a bias of a few percent
    }
}

TEST_CASE("a particle filter returns the same on any number of threads") {
  auto const on = [](unsigned threads) {
    return particle_filter(
        begin, extend, observed.size(), {.particles = 200, .threads = threads}, random_key(4),
        [](double&, std::size_t, random_key const&) {});
  };
  auto const one = on(1), three = on(3);
  CHECK((one.values == three.values && one.log_weights == three.log_weights));
  CHECK(one.log_evidence == three.log_evidence);
}

TEST_CASE("each particle has its own keys in each step, and others for rejuvenation") {
  std::vector<random_key> extended, moved;
  (void)particle_filter(
      begin,
      [&](double&, std::size_t t, random_key const& key) {
        extended.push_back(key);
        return t == 1 ? 0.0 : -static_cast<double>(extended.size() % 2);
      },
      3, {.particles = 2, .resample_below = 1}, random_key(4),
      [&](double&, std::size_t t, random_key const& key) {
        CHECK(t == 0); // nor after the last step, and not where weights are equal
        moved.push_back(key);
      });
  random_key const key(4);
  CHECK(
      extended == std::vector{
                      key.at(0).at(0), key.at(0).at(1), key.at(1).at(0), key.at(1).at(1), key.at(2).at(0),
                      key.at(2).at(1)});
  CHECK(moved == std::vector{key.at(0).at("move").at(0), key.at(0).at("move").at(1)});
}

TEST_CASE("a particle filter without positive weights throws, and NaN are counted") {
  auto const dies = [](double& x, std::size_t t, random_key const& key) {
    double const w = extend(x, t, key);
    return t == 3 ? -inf : w;
  };
  CHECK_THROWS_WITH(
      particle_filter(begin, dies, 5, {.particles = 50}, random_key(1)),
      Catch::Contains("overdub: step 3: no draw of 50 has a weight: log weights are NaN 0 times"));
  auto const half = [](double& x, std::size_t t, random_key const& key) {
    double const w = extend(x, t, key);
    return x > 1 ? std::nan("") : w;
  };
  auto const f = particle_filter(begin, half, 5, {.particles = 50, .resample_below = 1}, random_key(1));
  CHECK((f.not_a_number > 5 && std::isfinite(f.log_evidence)));
  CHECK_THROWS_WITH(
      particle_filter(begin, extend, 5, {.particles = 0}, random_key(1)),
      Catch::Contains("a filter of no particles"));
  auto const throws = [](double&, std::size_t, random_key const&) -> double {
    throw std::runtime_error("its own");
  };
  CHECK_THROWS_WITH(particle_filter(begin, throws, 5, {.threads = 2}, random_key(1)), "its own");
  auto const none = particle_filter(begin, extend, 0, {.particles = 5}, random_key(1));
  CHECK((none.values.size() == 5 && none.log_evidence == 0 && none.effective_size() == Approx(5)));
}
