// Draws have the distributions that they are drawn from: Kolmogorov-Smirnov and chi-squared tests against Boost.Math's distribution
// functions, with fixed keys. Densities integrate, or sum, to 1.
#include "catch.hpp"

#include <overdub/distributions.hpp>

#include <boost/math/distributions/beta.hpp>
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/cauchy.hpp>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/exponential.hpp>
#include <boost/math/distributions/gamma.hpp>
#include <boost/math/distributions/geometric.hpp>
#include <boost/math/distributions/inverse_gamma.hpp>
#include <boost/math/distributions/lognormal.hpp>
#include <boost/math/distributions/negative_binomial.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/poisson.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <boost/math/quadrature/exp_sinh.hpp>
#include <boost/math/quadrature/sinh_sinh.hpp>
#include <boost/math/quadrature/tanh_sinh.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <tuple>
#include <vector>

namespace {

namespace od = overdub;
namespace ds = overdub::distributions;
namespace bm = boost::math;
namespace quadrature = boost::math::quadrature;
using od::i64;

constexpr int count = 60000;

template <class D>
auto sample(D const& d) {
  od::random_key const key = od::random_key(1).at(ds::detail::text_of(d));
  std::vector<decltype(draw(d, key))> all;
  for (int i = 0; i < count; ++i) all.push_back(draw(d, key.at(i)));
  return all;
}

// The p-value of the maximum distance of two distribution functions (Kolmogorov, 1933): about 2 exp(-2 n distance^2).
template <class D, class Cdf>
void follows(D const& d, Cdf const& cdf) {
  auto all = sample(d);
  std::sort(all.begin(), all.end());
  double distance = 0;
  for (int i = 0; i < count; ++i) {
    double const f = cdf(static_cast<double>(all[static_cast<std::size_t>(i)]));
    distance = std::max({distance, f - i / double{count}, (i + 1) / double{count} - f});
  }
  INFO(ds::detail::text_of(d));
  CHECK(2 * std::exp(-2 * count * distance * distance) > 1e-6);
  CHECK(log_density(d, all.front()) > -ds::infinity);
  CHECK(log_density(d, all.back()) > -ds::infinity);
}
template <class D, class Law>
void follows_law(D const& d, Law const& law) {
  follows(d, [&](double x) { return bm::cdf(law, x); });
}

// The p-value of the counts of cells with an expected count of at least ten.
template <class D>
void counts_follow(D const& d, i64 from, i64 to) {
  std::vector<double> found(static_cast<std::size_t>(to - from + 1)), expected;
  double outside = 0;
  for (i64 const k : sample(d)) {
    if (k < from || k > to)
      ++outside;
    else
      ++found[static_cast<std::size_t>(k - from)];
  }
  double rest = count, statistic = 0, cells = 0, of_found = 0, of_expected = 0;
  for (i64 k = from; k <= to; ++k) {
    double const e = count * std::exp(log_density(d, k));
    rest -= e;
    of_expected += e;
    of_found += found[static_cast<std::size_t>(k - from)];
    if (of_expected < 10) continue;
    statistic += (of_found - of_expected) * (of_found - of_expected) / of_expected;
    ++cells, of_found = of_expected = 0;
  }
  of_expected += std::max(rest, 0.0), of_found += outside;
  if (of_expected > 1)
    statistic += (of_found - of_expected) * (of_found - of_expected) / of_expected, ++cells;
  INFO(ds::detail::text_of(d) << ": " << statistic << " in " << cells);
  CHECK(rest > -1e-6); // the probabilities sum to at most 1
  CHECK(rest < 1);
  CHECK(bm::cdf(bm::complement(bm::chi_squared(std::max(1.0, cells - 1)), statistic)) > 1e-6);
}

template <class D>
void adds_up(D const& d, i64 from, i64 to) {
  double total = 0;
  for (i64 k = from; k <= to; ++k) total += std::exp(log_density(d, k));
  INFO(ds::detail::text_of(d));
  CHECK(total == Approx(1).epsilon(1e-12));
}

} // namespace

TEST_CASE("draws of real numbers") {
  follows_law(ds::normal(2, 3), bm::normal(2, 3));
  for (double const df : {0.5, 3.0, 40.0}) follows_law(ds::student_t(df, 0, 1), bm::students_t(df));
  follows_law(ds::cauchy(1, 2), bm::cauchy(1, 2));
}

TEST_CASE("draws of positive numbers") {
  follows_law(ds::lognormal(-1, 2), bm::lognormal(-1, 2));
  follows(ds::half_normal(3), [](double x) { return 2 * bm::cdf(bm::normal(0, 3), x) - 1; });
  follows_law(ds::exponential(4), bm::exponential(4));
  for (double const shape : {0.05, 0.7, 1.0, 5.0, 200.0}) {
    follows_law(ds::gamma(shape, 3), bm::gamma_distribution<>(shape, 1 / 3.0));
    follows_law(ds::inverse_gamma(shape, 3), bm::inverse_gamma(shape, 3));
  }
}

TEST_CASE("draws between bounds") {
  for (auto const& [a, b] : {std::pair{0.1, 0.2}, {1.0, 1.0}, {0.5, 7.0}, {30.0, 20.0}})
    follows_law(ds::beta(a, b), bm::beta_distribution<>(a, b));
  follows(ds::uniform(-1, 3), [](double x) { return (x + 1) / 4; });
  bm::normal const z;
  for (auto const& [low, high] :
       {std::pair{-1.0, 0.5}, {-3.0, 2.0}, {0.5, 0.7}, {2.0, 9.0}, {-8.0, -6.0}, {5.0, 5.1}}) {
    auto const above = [&](double x) { return bm::cdf(bm::complement(z, x)); };
    double const l = low, h = high, whole = above(l) - above(h);
    follows(ds::truncated(ds::normal(0, 1), l, h), [&](double x) { return (above(l) - above(x)) / whole; });
  }
  follows(ds::truncated_below(ds::normal(1, 2), 7), [&](double x) {
    return 1 - bm::cdf(bm::complement(z, (x - 1) / 2)) / bm::cdf(bm::complement(z, 3.0));
  });
  follows(ds::truncated_above(ds::normal(1, 2), 2), [&](double x) {
    return bm::cdf(z, (x - 1) / 2) / bm::cdf(z, 0.5);
  });
  follows(ds::truncated(ds::cauchy(0, 1), 1, 50), [](double x) {
    return (std::atan(x) - std::atan(1.0)) / (std::atan(50.0) - std::atan(1.0));
  });
  follows(ds::truncated_below(ds::cauchy(0, 1), -2), [](double x) {
    return (std::atan(x) + std::atan(2.0)) / (std::atan(2.0) + M_PI / 2);
  });
  follows(ds::truncated_above(ds::cauchy(0, 1), -2), [](double x) {
    return (std::atan(x) + M_PI / 2) / (M_PI / 2 - std::atan(2.0));
  });
  follows(ds::truncated(ds::exponential(2), 1, 2), [](double x) {
    return std::expm1(-2 * (x - 1)) / std::expm1(-2);
  });
  follows(ds::truncated_below(ds::exponential(2), 1), [](double x) { return -std::expm1(-2 * (x - 1)); });
  follows(ds::truncated(ds::half_normal(1), -1, 1), [&](double x) {
    return (bm::cdf(z, x) - 0.5) / (bm::cdf(z, 1.0) - 0.5);
  });
  follows(ds::truncated(ds::lognormal(1, 0.5), -1, 3), [&](double x) {
    return bm::cdf(z, 2 * (std::log(x) - 1)) / bm::cdf(z, 2 * (std::log(3.0) - 1));
  });
  follows(ds::truncated_below(ds::lognormal(1, 0.5), 3), [&](double x) {
    double const whole = bm::cdf(bm::complement(z, 2 * (std::log(3.0) - 1)));
    return 1 - bm::cdf(bm::complement(z, 2 * (std::log(x) - 1))) / whole;
  });
  follows(ds::truncated(ds::uniform(0, 4), 1, 9), [](double x) { return (x - 1) / 3; });
}

TEST_CASE("draws of a mixture") {
  follows(ds::mixture(std::tuple(1, 3), ds::normal(-2, 1), ds::exponential(2)), [](double x) {
    return 0.25 * bm::cdf(bm::normal(-2, 1), x) + 0.75 * (x > 0 ? -std::expm1(-2 * x) : 0.0);
  });
  counts_follow(ds::mixture(std::tuple(1, 3), ds::poisson(2), ds::geometric(0.2)), 0, 100);
}

TEST_CASE("draws of integers") {
  for (auto const& [n, p] : {std::pair{1, 0.3}, {10, 0.5}, {40, 0.02}, {300, 0.9}, {100000, 0.4}}) {
    double const sd = std::sqrt(n * p * (1 - p));
    auto const low = static_cast<i64>(std::max(0.0, n * p - 9 * sd - 9));
    counts_follow(ds::binomial(n, p), low, std::min(i64{n}, static_cast<i64>(n * p + 9 * sd + 9)));
  }
  counts_follow(ds::binomial_logit(40, -2), 0, 40);
  counts_follow(ds::binomial_logit(300, 1.5), 100, 300);
  for (double const rate : {0.1, 3.0, 9.9, 11.0, 400.0, 1e5}) {
    double const sd = std::sqrt(rate);
    counts_follow(
        ds::poisson(rate), static_cast<i64>(std::max(0.0, rate - 9 * sd)),
        static_cast<i64>(rate + 9 * sd + 20));
  }
  counts_follow(ds::negative_binomial(3, 0.4), 0, 300);
  counts_follow(ds::negative_binomial(40, 20), 0, 300);
  counts_follow(ds::geometric(0.02), 0, 2000);
  counts_follow(ds::geometric(1), 0, 3);
  counts_follow(ds::discrete_uniform(-4, 9), -4, 9);
  counts_follow(ds::categorical(od::array<double>{1, 0, 5, 2}), 0, 3);
  counts_follow(ds::categorical_logit(od::array<double>{701, 700, 702.5}), 0, 2);
  double hits = 0;
  for (bool const b : sample(ds::bernoulli(0.3))) hits += b;
  for (bool const b : sample(ds::bernoulli_logit(-1))) hits += b;
  CHECK(
      hits / count ==
      Approx(0.3 + 1 / (1 + std::exp(1.0))).margin(5 * std::sqrt(0.21 + 0.2) / std::sqrt(count)));
}

// The error of the normal approximation is below 1e-4 there.
TEST_CASE("draws of large counts") {
  auto const is_normal = [](auto const& d, double mean, double variance) {
    bm::normal const law(mean, std::sqrt(variance));
    follows(d, [&](double x) { return bm::cdf(law, x); });
  };
  for (double const rate : {9e8, 3e9, 4e15}) is_normal(ds::poisson(rate), rate, rate);
  is_normal(ds::binomial(4'000'000'000'000, 0.3), 1.2e12, 0.84e12);
  // Many trials of a small probability: Poisson, up to 1e-8.
  auto const is_poisson = [](auto const& d, double rate) {
    bm::poisson const law(rate);
    std::vector<double> found(60);
    for (i64 const k : sample(d)) ++found[static_cast<std::size_t>(std::min(k, i64{59}))];
    double statistic = 0, cells = -1;
    for (std::size_t k = 0; k < found.size(); ++k) {
      double const e = count * bm::pdf(law, static_cast<double>(k));
      if (e > 10) statistic += (found[k] - e) * (found[k] - e) / e, ++cells;
    }
    INFO(ds::detail::text_of(d));
    CHECK(bm::cdf(bm::complement(bm::chi_squared(cells), statistic)) > 1e-6);
  };
  is_poisson(ds::binomial(1'000'000'000'000'000'000, 3e-18), 3);
  is_poisson(ds::binomial(1'000'000'000'000'000, 1e-16), 0.1);
  is_poisson(ds::binomial(1'000'000'000'000'000, 1.05e-14), 10.5);
  is_poisson(ds::binomial(1'000'000'000'000'000, 1.5e-14), 15);
  {
    i64 const most = std::numeric_limits<i64>::max();
    double mean = 0;
    for (int i = 0; i < 20; ++i)
      mean += static_cast<double>(draw(ds::binomial(most, 0.25), od::random_key(1).at(i))) / 20;
    CHECK(mean == Approx(0x1p61).margin(5 * std::sqrt(0x1p63 * 0.1875 / 20)));
    CHECK(most - draw(ds::binomial(most, 1 - 0x1p-53), od::random_key(1)) < 1400);
  }
  CHECK(draw(ds::poisson(1e30), od::random_key(1)) == std::numeric_limits<i64>::max());
  CHECK(draw(ds::geometric(1e-300), od::random_key(1)) == std::numeric_limits<i64>::max());
  CHECK(
      draw(
          ds::discrete_uniform(std::numeric_limits<i64>::min(), std::numeric_limits<i64>::max()),
          od::random_key(1)) != 0);
}

TEST_CASE("draws of arrays: marginals of dirichlet are beta, projections of multivariate_normal normal") {
  using vector = od::array<double>;
  od::random_key const key(4);
  auto const parts = ds::dirichlet(vector{0.3, 2, 5});
  auto const mean = vector{1, -1, 0.5};
  auto const joint = ds::multivariate_normal(
      mean, od::array<vector>{vector{2, 99, 99}, vector{-1, 0.5, 99}, vector{0.25, 3, 1.5}});
  bm::normal const z;
  std::vector<std::vector<double>> all(10); // by the distribution functions: even, each of them
  for (int i = 0; i < count; ++i) {
    auto const x = draw(parts, key.at(i));
    if (i < 100) CHECK(log_density(parts, x) > -ds::infinity);
    all[0].push_back(bm::cdf(bm::beta_distribution<>(0.3, 7), x[0]));
    all[1].push_back(bm::cdf(bm::beta_distribution<>(2, 5.3), x[1]));
    all[2].push_back(bm::cdf(bm::beta_distribution<>(5, 2.3), x[2]));
    all[3].push_back(bm::cdf(bm::beta_distribution<>(0.3, 5), x[0] / (x[0] + x[2]))); // without the second
    auto const y = draw(joint, key.at("joint").at(i));
    double const a = y[0] - 1, b = y[1] + 1, c = y[2] - 0.5;
    auto const seen = [&](std::size_t n, double projection, double variance) {
      all[n].push_back(bm::cdf(z, projection / std::sqrt(variance)));
    };
    seen(4, a, 4), seen(5, b, 1.25), seen(6, c, 0.0625 + 9 + 2.25);
    seen(7, 2 * a + b, 9 + 0.25);         // (3, 0.5)
    seen(8, b - c, 1.5625 + 6.25 + 2.25); // (-1.25, -2.5, -1.5)
    seen(9, a - c, 3.0625 + 9 + 2.25);    // (1.75, -3, -1.5)
  }
  for (auto& each : all) {
    std::sort(each.begin(), each.end());
    double distance = 0;
    for (int i = 0; i < count; ++i)
      distance = std::max(distance, std::abs(each[static_cast<std::size_t>(i)] - (i + 0.5) / count));
    INFO(&each - all.data());
    CHECK(2 * std::exp(-2 * count * distance * distance) > 1e-6);
  }
}

TEST_CASE("draws for parameters near 0") {
  int ones = 0, first = 0;
  for (i64 i = 0; i < 3000; ++i) {
    od::random_key const key = od::random_key(4).at(i);
    double const x = draw(ds::beta(3e-310, 1e-310), key);
    CHECK((x > 0 && x < 1));
    ones += x > 0.5;
    auto const parts = draw(ds::dirichlet(od::array<double>{1e-310, 2e-310, 1e-310}), key);
    CHECK(ds::simplex::contains(parts));
    first += parts[1] > 0.5;
  }
  CHECK(ones / 3000. == Approx(0.75).margin(0.04));
  CHECK(first / 3000. == Approx(0.5).margin(0.04));
  CHECK(draw(ds::negative_binomial(1, 1e-310), od::random_key(1)) == 0);
  CHECK(draw(ds::negative_binomial(100, 1e-307), od::random_key(2)) == 0);
}

TEST_CASE("draws of the tails of cauchy") {
  // Beyond 1e9 the density is that of 1 / u, to eighteen digits.
  follows(ds::truncated_below(ds::cauchy(0, 1), 1e9), [](double x) { return 1 - 1e9 / x; });
  follows(ds::truncated_above(ds::cauchy(0, 1), -1e9), [](double x) { return -1e9 / x; });
  follows(ds::truncated_below(ds::cauchy(3, 2), 1e9), [](double x) { return 1 - (1e9 - 3) / (x - 3); });
  follows(ds::truncated_below(ds::cauchy(0, 1), -1e9), [](double x) { return std::atan(x) / M_PI + 0.5; });
  follows(ds::truncated_above(ds::cauchy(0, 1), 1e9), [](double x) { return std::atan(x) / M_PI + 0.5; });
  follows(ds::truncated(ds::cauchy(0, 1), 1e200, 2e200), [](double x) { return 2 * (1 - 1e200 / x); });
}

TEST_CASE("draws from other uniform random bit generators") {
  auto const all_follow = [](auto g) {
    double total = 0, squares = 0, counted = 0;
    int const n = 20000;
    for (int i = 0; i < n; ++i) {
      double const x = draw(ds::normal(1, 2), g);
      total += x, squares += (x - 1) * (x - 1);
      counted += static_cast<double>(draw(ds::binomial(20, 0.3), g)) + draw(ds::uniform(0, 2), g) +
                 draw(ds::truncated(ds::normal(0, 1), 1, 2), g) +
                 draw(ds::mixture(std::tuple(1, 1), ds::exponential(1), ds::gamma(0.5, 1)), g);
    }
    double const slice = (std::exp(-0.5) - std::exp(-2.0)) / std::sqrt(2 * M_PI) /
                         (bm::cdf(bm::normal(), 2.0) - bm::cdf(bm::normal(), 1.0));
    CHECK(total / n == Approx(1).margin(5 * 2 / std::sqrt(n)));
    CHECK(squares / n == Approx(4).margin(5 * 4 * std::sqrt(2.0 / n)));
    CHECK(counted / n == Approx(6 + 1 + slice + 0.75).margin(5 * 2.6 / std::sqrt(n)));
  };
  all_follow(std::mt19937_64(1));
  all_follow(std::mt19937(1));
  all_follow(std::minstd_rand(1));
}

TEST_CASE("densities integrate to 1") {
  auto const density = [](auto const& d) { return [d](double x) { return std::exp(log_density(d, x)); }; };
  quadrature::sinh_sinh<double> line;
  quadrature::exp_sinh<double> half_line;
  quadrature::tanh_sinh<double> piece;
  auto const is_one = [](double total) { CHECK(total == Approx(1).epsilon(1e-8)); };
  is_one(line.integrate(density(ds::normal(0.3, 1.7))));
  is_one(line.integrate(density(ds::student_t(3.3, 0.3, 1.7))));
  is_one(line.integrate(density(ds::cauchy(0.3, 1.7))));
  is_one(half_line.integrate(density(ds::lognormal(0.3, 0.7))));
  is_one(half_line.integrate(density(ds::half_normal(1.7))));
  is_one(half_line.integrate(density(ds::exponential(1.7))));
  is_one(half_line.integrate(density(ds::gamma(2.2, 1.7))));
  is_one(half_line.integrate(density(ds::gamma(12.5, 3))));
  is_one(half_line.integrate(density(ds::inverse_gamma(2.2, 1.7))));
  is_one(piece.integrate(density(ds::beta(1.3, 2.6)), 0.0, 1.0));
  is_one(piece.integrate(density(ds::uniform(1, 4)), 1.0, 4.0));
  is_one(piece.integrate(density(ds::truncated(ds::normal(0, 1), -0.5, 2)), -0.5, 2.0));
  is_one(piece.integrate(density(ds::truncated(ds::normal(0, 1), 21, 23)), 21.0, 23.0));
  is_one(piece.integrate(density(ds::truncated(ds::cauchy(0, 1), 3, 9)), 3.0, 9.0));
  is_one(piece.integrate(density(ds::truncated(ds::half_normal(2), 1, 3)), 1.0, 3.0));
  is_one(piece.integrate(density(ds::truncated(ds::lognormal(0, 2), 1, 3)), 1.0, 3.0));
  is_one(piece.integrate(density(ds::truncated_above(ds::lognormal(0, 2), 3)), 0.0, 3.0));
  is_one(piece.integrate(density(ds::truncated_above(ds::half_normal(2), 3)), 0.0, 3.0));
  is_one(half_line.integrate(density(ds::truncated_below(ds::half_normal(2), 3)), 3.0, ds::infinity));
  is_one(piece.integrate(density(ds::truncated_above(ds::exponential(2), 3)), 0.0, 3.0));
  is_one(line.integrate(density(ds::mixture(std::tuple(1, 3), ds::normal(-1, 1), ds::student_t(4, 1, 2)))));
  // In two dimensions: on the triangle of dirichlet, and on the plane.
  using vector = od::array<double>;
  auto const d = ds::dirichlet(vector{1.5, 2, 2.5});
  is_one(piece.integrate(
      [&](double x) {
        return piece.integrate(
            [&](double t) {
              double const y = (1 - x) * t;
              return (1 - x) * std::exp(log_density(d, vector{x, y, (1 - x) * (1 - t)}));
            },
            0.0, 1.0);
      },
      0.0, 1.0));
}

TEST_CASE("probabilities sum to 1") {
  adds_up(ds::binomial(300, 0.3), 0, 300);
  adds_up(ds::binomial(3, 0.9), 0, 3);
  adds_up(ds::poisson(30), 0, 200);
  adds_up(ds::poisson(0.1), 0, 30);
  adds_up(ds::negative_binomial(3, 0.7), 0, 400);
  adds_up(ds::negative_binomial(30, 40), 0, 400);
  adds_up(ds::geometric(0.1), 0, 500);
  adds_up(ds::discrete_uniform(-3, 9), -3, 9);
  adds_up(ds::categorical(od::array<double>{1, 4, 2, 0}), 0, 3);
  adds_up(ds::categorical_logit(od::array<double>{-1, 400, 399}), 0, 2);
  adds_up(ds::bernoulli(0.3), 0, 1);
  adds_up(ds::bernoulli_logit(0.3), 0, 1);
  adds_up(ds::binomial_logit(30, 0.3), 0, 30);
  adds_up(ds::mixture(std::tuple(2, 1), ds::poisson(3), ds::geometric(0.1)), 0, 500);
}
