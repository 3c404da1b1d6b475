// R-hat, effective sample sizes and Monte Carlo errors: against direct implementations of their published definitions, and on
// autoregressive chains, for which the effective sample size is known.
#include "catch.hpp"

#include <overdub/inference/diagnostics.hpp>
#include <overdub/inference/streams.hpp>
#include <overdub/inference/summary.hpp>

#ifdef BOOST_STATS_NORMAL_HPP
#error two quantiles need no distributions of Boost
#endif

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace {

using namespace overdub::inference;
using chains = std::vector<std::vector<double>>;

chain_values flat(chains const& x) {
  chain_values all{{}, x.size()};
  for (auto const& c : x) all.values.insert(all.values.end(), c.begin(), c.end());
  return all;
}

// Chains of x[t] = phi x[t - 1] + e[t], stationary, of mean 0 and variance 1.
chains autoregressive(double phi, std::size_t count, std::size_t length, std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  chains all(count);
  for (auto& c : all) {
    double x = drawing::normal(generator);
    for (std::size_t t = 0; t < length; ++t) {
      c.push_back(x);
      x = phi * x + std::sqrt(1 - phi * phi) * drawing::normal(generator);
    }
  }
  return all;
}

// Direct implementations of the published definitions.
namespace slow {

double mean(std::vector<double> const& x) {
  long double sum = 0;
  for (double const v : x) sum += v;
  return static_cast<double>(sum / static_cast<long double>(x.size()));
}
double variance(std::vector<double> const& x) {
  double const m = mean(x);
  long double sum = 0;
  for (double const v : x) sum += (v - m) * (v - m);
  return static_cast<double>(sum / static_cast<long double>(x.size() - 1));
}
std::vector<double> pooled(chains const& x) {
  std::vector<double> all;
  for (auto const& c : x) all.insert(all.end(), c.begin(), c.end());
  return all;
}
double quantile(std::vector<double> x, double p) {
  std::ranges::sort(x);
  double const h = p * static_cast<double>(x.size() - 1), floor = std::floor(h);
  auto const at = [&](double i) { return x[std::min(static_cast<std::size_t>(i), x.size() - 1)]; };
  return at(floor) + (h - floor) * (at(floor + 1) - at(floor));
}
chains split(chains const& x) {
  chains halves;
  for (auto const& c : x) {
    auto const half = static_cast<std::ptrdiff_t>(c.size() / 2);
    halves.emplace_back(c.begin(), c.begin() + half);
    halves.emplace_back(c.end() - half, c.end());
  }
  return halves;
}
// The normal quantile, by bisection.
double normal_quantile(double p) {
  double low = -10, high = 10;
  for (int i = 0; i < 80; ++i) {
    double const middle = (low + high) / 2;
    (0.5 * std::erfc(-middle / std::sqrt(2.0)) < p ? low : high) = middle;
  }
  return (low + high) / 2;
}
chains ranked(chains x) {
  std::vector<double> const all = pooled(x);
  for (auto& c : x)
    for (double& v : c) {
      double below = 0, equal = 0;
      for (double const w : all) {
        below += w < v;
        equal += w == v;
      }
      v = normal_quantile((below + (equal + 1) / 2 - 0.375) / (static_cast<double>(all.size()) + 0.25));
    }
  return x;
}
double plain_rhat(chains const& x) {
  double const n = static_cast<double>(x[0].size());
  std::vector<double> means, variances;
  for (auto const& c : x) {
    means.push_back(mean(c));
    variances.push_back(variance(c));
  }
  double const between = n * variance(means), within = mean(variances);
  return std::sqrt(((n - 1) / n * within + between / n) / within);
}
double rhat(chains const& x) {
  chains const halves = split(x);
  chains folded = halves;
  double const median = quantile(pooled(halves), 0.5);
  for (auto& c : folded)
    for (double& v : c) v = std::abs(v - median);
  return std::max(plain_rhat(ranked(halves)), plain_rhat(ranked(folded)));
}
// Equations 10 to 13: all autocorrelations, Geyer's pairs, and then the sum.
double plain_ess(chains const& x) {
  std::size_t const n = x[0].size();
  double const m = static_cast<double>(x.size()), length = static_cast<double>(n);
  std::vector<double> means, variances;
  for (auto const& c : x) {
    means.push_back(mean(c));
    variances.push_back(variance(c));
  }
  double const within = mean(variances),
               total = (length - 1) / length * within + (x.size() > 1 ? variance(means) : 0);
  std::vector<double> rho;
  for (std::size_t lag = 0; lag < n; ++lag) {
    double covariance = 0;
    for (std::size_t c = 0; c < x.size(); ++c)
      for (std::size_t t = 0; t + lag < n; ++t)
        covariance += (x[c][t] - means[c]) * (x[c][t + lag] - means[c]) / (length * m);
    rho.push_back(lag == 0 ? 1 : 1 - (within - covariance) / total);
  }
  std::size_t pairs = 0;
  while (2 * pairs + 5 < n && rho[2 * pairs] + rho[2 * pairs + 1] > 0) ++pairs;
  double sum = 0, least = 2;
  for (std::size_t k = 0; k < pairs; ++k) {
    least = std::min(least, rho[2 * k] + rho[2 * k + 1]);
    sum += least;
  }
  double const time = std::max(-1 + 2 * sum + std::max(0.0, rho[2 * pairs]), 1 / std::log10(length * m));
  return length * m / time;
}
double ess_of_indicator(chains x, double p) {
  double const q = quantile(pooled(x), p);
  for (auto& c : x)
    for (double& v : c) v = v <= q;
  return plain_ess(split(x));
}

} // namespace slow

void agrees(chains const& x) {
  chain_values const values = flat(x);
  CHECK(rhat(values) == Approx(slow::rhat(x)).epsilon(1e-9));
  CHECK(ess_mean(values) == Approx(slow::plain_ess(slow::split(x))).epsilon(1e-9));
  CHECK(ess_bulk(values) == Approx(slow::plain_ess(slow::ranked(slow::split(x)))).epsilon(1e-9));
  CHECK(
      ess_tail(values) ==
      Approx(std::min(slow::ess_of_indicator(x, 0.05), slow::ess_of_indicator(x, 0.95))).epsilon(1e-9));
  CHECK(ess_quantile(values, 0.3) == Approx(slow::ess_of_indicator(x, 0.3)).epsilon(1e-9));
  CHECK(
      mcse_mean(values) ==
      Approx(std::sqrt(slow::variance(slow::pooled(x)) / slow::plain_ess(slow::split(x)))).epsilon(1e-9));
}

// The standard deviation of an estimate over many chains, divided by the mean of its Monte Carlo standard error.
double honesty(double phi, auto const& estimate, auto const& error) {
  std::vector<double> estimates, errors;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    chain_values const x = flat(autoregressive(phi, 2, 400, 100 + seed));
    estimates.push_back(estimate(x));
    errors.push_back(error(x));
  }
  return std::sqrt(slow::variance(estimates)) / slow::mean(errors);
}

} // namespace

TEST_CASE("R-hat and effective sample sizes are those of their definitions") {
  for (double const phi : {-0.7, 0.0, 0.3, 0.9, 0.99})
    for (std::size_t const length : {12U, 101U, 200U}) {
      INFO("phi " << phi << ", length " << length);
      agrees(autoregressive(phi, 4, length, 5));
      agrees(autoregressive(phi, 1, length, 6));
    }
  chains ties = autoregressive(0.5, 3, 120, 7);
  for (auto& c : ties)
    for (double& v : c) v = std::round(v);
  agrees(ties);
  chains apart = autoregressive(0.5, 4, 100, 8);
  for (double& v : apart[2]) v += 3;
  agrees(apart);
}

TEST_CASE("the effective sample size of autoregressive chains is n (1 - phi) / (1 + phi)") {
  for (double const phi : {-0.5, 0.0, 0.5, 0.9}) {
    chain_values const x = flat(autoregressive(phi, 4, 5000, 11));
    double const exact = 20000 * (1 - phi) / (1 + phi);
    INFO(phi);
    CHECK(ess_mean(x) == Approx(exact).epsilon(0.12));
    CHECK(ess_bulk(x) == Approx(exact).epsilon(0.12));
    CHECK(rhat(x) < 1.01);
  }
  // Squares of a Gaussian series have the autocorrelations phi^2, phi^4, ...
  CHECK(
      ess_sd(flat(autoregressive(0.8, 4, 5000, 12))) ==
      Approx(20000 * (1 - 0.64) / (1 + 0.64)).epsilon(0.12));
}

TEST_CASE("Monte Carlo standard errors are the standard deviations of estimates") {
  for (double const phi : {0.0, 0.6}) {
    INFO(phi);
    CHECK(
        honesty(
            phi, [](chain_values const& x) { return slow::mean(x.values); }, mcse_mean) ==
        Approx(1).epsilon(0.15));
    CHECK(
        honesty(
            phi, [](chain_values const& x) { return std::sqrt(slow::variance(x.values)); }, mcse_sd) ==
        Approx(1).epsilon(0.15));
    for (double const p : {0.1, 0.5})
      CHECK(
          honesty(
              phi, [&](chain_values const& x) { return slow::quantile(x.values, p); },
              [&](chain_values const& x) { return mcse_quantile(x, p); }) == Approx(1).epsilon(0.15));
  }
}

TEST_CASE("R-hat detects chains of other means, of other scales, and chains with a trend") {
  chains x = autoregressive(0.3, 4, 1000, 1);
  CHECK(rhat(flat(x)) < 1.005);
  chains shifted = x, scaled = x, moving = x;
  for (double& v : shifted[1]) v += 1;
  for (double& v : scaled[1]) v *= 4;
  for (auto& c : moving)
    for (std::size_t t = 0; t < c.size(); ++t) c[t] += 0.002 * static_cast<double>(t);
  CHECK(rhat(flat(shifted)) > 1.05);
  CHECK(rhat(flat(scaled)) > 1.05);
  CHECK(rhat(flat(moving)) > 1.05);
  // Rank normalisation is robust to heavy tails, and invariant to monotone transforms.
  for (auto& c : x)
    for (double& v : c) v = std::exp(20 * v);
  CHECK(rhat(flat(x)) < 1.005);
  CHECK(ess_bulk(flat(x)) > 1500);
}

TEST_CASE("diagnostics of values of any magnitude are those of the same values times a power of two") {
  chains const x = autoregressive(0.4, 4, 400, 21);
  chain_values const plain = flat(x);
  for (int const power : {-900, -565, -20, 1, 565, 1015}) {
    chain_values y = plain;
    for (double& v : y.values) v = std::ldexp(v, power);
    INFO("2^" << power);
    CHECK(rhat(y) == rhat(plain));
    CHECK(ess_mean(y) == ess_mean(plain));
    CHECK(ess_bulk(y) == ess_bulk(plain));
    CHECK(ess_tail(y) == ess_tail(plain));
    CHECK(ess_sd(y) == ess_sd(plain));
    CHECK(mcse_mean(y) == std::ldexp(mcse_mean(plain), power));
    CHECK(mcse_sd(y) == std::ldexp(mcse_sd(plain), power));
    CHECK(mcse_quantile(y, 0.3) == std::ldexp(mcse_quantile(plain, 0.3), power));
    CHECK(
        diagnosing::standard_deviation(y.values) ==
        std::ldexp(diagnosing::standard_deviation(plain.values), power));
    CHECK(
        diagnosing::mean(y.values) ==
        Approx(std::ldexp(diagnosing::mean(plain.values), power)).epsilon(1e-12));
    CHECK(ebfmi(y.chain(0)) == ebfmi(plain.chain(0)));
  }
}

TEST_CASE("diagnostics of constants, of few draws and of values that are not finite are NaN") {
  double const infinity = std::numeric_limits<double>::infinity();
  for (chains const& x :
       {chains{{1, 1, 1, 1, 1, 1}}, chains{{1, 2, 3, 4, 6}}, chains{{1, 2, infinity, 3, 4, 5}}, chains{}}) {
    chain_values const v = flat(x);
    CHECK(std::isnan(rhat(v)));
    CHECK(std::isnan(ess_mean(v)));
    CHECK(std::isnan(ess_bulk(v)));
    CHECK(std::isnan(ess_tail(v)));
    CHECK(std::isnan(ess_sd(v)));
    CHECK(std::isnan(mcse_mean(v)));
    CHECK(std::isnan(mcse_sd(v)));
    CHECK(std::isnan(mcse_quantile(v, 0.5)));
  }
  CHECK(std::isfinite(ess_mean(flat(autoregressive(0, 1, 6, 1)))));
}

TEST_CASE("E-BFMI is 2 for independent energies, and small for a random walk") {
  auto const independent = autoregressive(0, 1, 5000, 3)[0], walking = autoregressive(0.95, 1, 5000, 3)[0];
  CHECK(ebfmi(independent) == Approx(2).epsilon(0.05));
  CHECK(ebfmi(walking) == Approx(0.1).epsilon(0.1));
  CHECK(std::isnan(ebfmi(std::vector<double>{1, 2})));
}

TEST_CASE("a summary is a table, and warns") {
  draws d({"x", "a.long.name"}, 2);
  chains const x = autoregressive(0.2, 4, 500, 4);
  for (std::size_t c = 0; c < 2; ++c)
    for (std::size_t i = 0; i < 500; ++i) {
      std::span<double> const values =
          d.append(c, {.log_density = x[c][i], .divergent = i == 7, .energy = x[c][i]});
      values[0] = 10 + x[2 + c][i];
      values[1] = static_cast<double>(c) + 0.01 * x[c][i];
    }
  summary const s(d);
  CHECK(s["x"].mean == Approx(slow::mean(d.column("x").values)));
  CHECK(s["x"].sd == Approx(std::sqrt(slow::variance(d.column("x").values))));
  CHECK(s["x"].q5 == Approx(slow::quantile(d.column("x").values, 0.05)));
  CHECK(s["x"].median == Approx(slow::quantile(d.column("x").values, 0.5)));
  CHECK(s["x"].q95 == Approx(slow::quantile(d.column("x").values, 0.95)));
  CHECK(s["x"].ess_bulk == ess_bulk(d.column("x")));
  CHECK_THROWS_WITH(s["y"], Catch::Contains("no variable y"));
  std::ostringstream out;
  out << s;
  std::string const text = out.str();
  CHECK(text.starts_with("                  mean       mcse         sd"));
  CHECK(text.find("\na.long.name ") != std::string::npos);
  CHECK(text.find("\n2 of 1000 transitions ended in divergences") != std::string::npos);
  CHECK(text.find("\nR-hat is over 1.01 for 1 of 3 variables") != std::string::npos);
  CHECK(summary(draws({"x"}, 2)).rows().size() == 2); // without draws
}

TEST_CASE("the mean and the quantiles of a single draw are the draw") {
  draws d({"x"}, 1);
  d.append(0, {.log_density = 1})[0] = 2.5;
  summary const s(d);
  for (double const v : {s["x"].mean, s["x"].q5, s["x"].median, s["x"].q95}) CHECK(v == 2.5);
  for (double const v : {s["x"].sd, s["x"].mcse, s["x"].rhat, s["x"].ess_bulk}) CHECK(std::isnan(v));
}

TEST_CASE("a summary does not warn of constants, and warns of values that are not finite") {
  chains const x = autoregressive(0, 4, 500, 4);
  for (double const other : {3.0, std::numeric_limits<double>::infinity()}) {
    draws d({"x", "other"}, 4);
    for (std::size_t c = 0; c < 4; ++c)
      for (std::size_t i = 0; i < 500; ++i) {
        std::span<double> const values = d.append(c, {.log_density = x[c][i], .energy = x[c][i]});
        values[0] = x[c][i];
        values[1] = i == 9 ? other : 3.0;
      }
    CHECK(summary(d).warnings().empty() == (other == 3.0));
    std::ostringstream text;
    text << summary(d);
    CHECK(text.str().find("-nan") == std::string::npos);
  }
}

TEST_CASE("quantiles among infinite draws are those of the order of the draws") {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  auto const row_of = [](std::vector<double> const& x) {
    draws d({"x"}, 1);
    for (double const v : x) d.append(0, {})[0] = v;
    return summary(d)["x"];
  };
  CHECK(row_of({1, infinity, 2}).median == 2);
  CHECK(row_of({-infinity, 1, -infinity, -infinity, 2}).median == -infinity);
  CHECK(row_of({-infinity, 1, -infinity, 2}).q5 == -infinity);
  CHECK(row_of({1, 2, 3, infinity}).q95 == infinity);
  CHECK(std::isnan(row_of({-infinity, infinity}).median));
}

TEST_CASE("a summary warns of chains that are not in its table") {
  chains const x = autoregressive(0, 3, 500, 4);
  draws d({"x"}, 3);
  for (std::size_t c = 0; c < 3; ++c)
    for (std::size_t i = 0; i < (c == 1 ? 20U : 500U); ++i)
      d.append(c, {.log_density = x[c][i], .energy = x[c][i]})[0] = x[c][i];
  CHECK(
      summary(d).warnings() ==
      std::vector<std::string>{
          "chains have from 20 to 500 draws: the table is of the first 500 of 2 of 3 chains"});
  CHECK(summary(d).energy_fractions().size() == 3);
}

TEST_CASE("a summary distinguishes undefined from small effective sample sizes") {
  chains const x = autoregressive(0, 4, 500, 4);
  draws d({"coin"}, 4);
  for (std::size_t c = 0; c < 4; ++c)
    for (std::size_t i = 0; i < 500; ++i)
      d.append(c, {.log_density = x[c][i], .energy = c == 2 ? 1 : x[c][i]})[0] = x[c][i] > 0;
  summary const s(d);
  REQUIRE(s["coin"].ess_bulk > 400);
  REQUIRE(std::isnan(s["coin"].ess_tail)); // its 95 % quantile is its maximum
  auto const warnings = s.warnings();
  REQUIRE(warnings.size() == 1); // no warning of the coin
  CHECK(warnings[0].starts_with("E-BFMI is not defined in 1 of 4 chains"));
  draws infinite({"x"}, 1);
  for (std::size_t i = 0; i < 500; ++i)
    infinite.append(0, {.log_density = x[0][i], .energy = x[0][i]})[0] =
        i == 7 ? std::numeric_limits<double>::infinity() : x[0][i];
  CHECK(
      summary(infinite).warnings() ==
      std::vector<std::string>{"R-hat or the effective sample size is not defined for 1 of 2 variables: "
                               "draws are few, or not finite"});
}

TEST_CASE("a summary of draws without energies has no warning of E-BFMI") {
  chains const x = autoregressive(0, 3, 500, 4);
  draws d({"x"}, 3);
  for (std::size_t c = 0; c < 2; ++c) // the third chain has no transitions
    for (std::size_t i = 0; i < 500; ++i) d.append(c, {.log_density = x[c][i]})[0] = x[c][i];
  summary const s(d);
  CHECK(!s.has_energies());
  for (double const e : s.energy_fractions()) CHECK(std::isnan(e));
  for (std::string const& w : s.warnings()) CHECK(w.find("E-BFMI") == std::string::npos);
}

TEST_CASE("draws are appended to each chain independently") {
  draws d({"x", "y"}, 2);
  for (std::size_t i = 0; i < 1000; ++i) {
    d.append(0, {.energy = 1}, std::vector<double>{static_cast<double>(i), 1});
    if (i % 3 == 0) d.append(1, {})[1] = 2;
  }
  CHECK((d.size(0) == 1000 && d.size(1) == 334 && d.size() == 1334));
  bool right = true;
  for (std::size_t i = 0; i < 1000; ++i)
    right = right && d.values(0, i)[0] == static_cast<double>(i) && d.values(0, i)[1] == 1 &&
            (i >= 334 || (d.values(1, i)[0] == 0 && d.values(1, i)[1] == 2));
  CHECK(right);
  CHECK_THROWS_WITH(d.append(0, {}, std::vector<double>{1}), Catch::Contains("1 numbers for 2 variables"));
  CHECK(d.size(0) == 1000);
}

TEST_CASE("names of variables are checked, and can be looked up in Stan's form") {
  CHECK(csv_name("theta[1,2]") == "theta.1.2");
  CHECK(csv_name("theta[1, 2]") == "theta.1.2");
  CHECK(csv_name("theta[10][3]") == "theta.10.3");
  for (char const* same :
       {"theta", "theta.1", "theta[", "theta[]", "theta[i]", "theta[1", "theta[1]x", "[1]", "f(x)"})
    CHECK(csv_name(same) == same);
  draws d({"theta[1,2]", "mu"}, 1);
  d.append(0, {})[0] = 5;
  CHECK(d.names() == std::vector<std::string>{"theta.1.2", "mu"});
  CHECK((d.column("theta[1,2]").values[0] == 5 && d.column("theta.1.2").values[0] == 5));
  CHECK(summary(d)["theta[1,2]"].name == "theta.1.2");

  for (char const* bad : {"a,b", "f(1,2)", "a\nb", "#a", "a#", "\"a\"", " a", "a ", "a\tb"})
    CHECK_THROWS_WITH(draws({bad}, 1), Catch::Contains("could not be read from a file of draws"));
  CHECK_THROWS_WITH(draws({""}, 1), Catch::Contains("a variable has no name"));
  CHECK_THROWS_WITH(draws({"lp__"}, 1), Catch::Contains("lp__ has the name of one of the sampler's columns"));
  CHECK_THROWS_WITH(draws({"x", "y.1", "y[1]"}, 1), Catch::Contains("two variables are called y.1"));
  CHECK(draws({"\xc3\xb6l"}, 1).variables() == 1);
}

TEST_CASE("a column of chains of different lengths has the maximum number of values") {
  draws d({"x"}, 3);
  std::size_t const lengths[] = {10, 2, 7};
  for (std::size_t c = 0; c < 3; ++c)
    for (std::size_t i = 0; i < lengths[c]; ++i) d.append(c, {})[0] = static_cast<double>(10 * c + i);
  chain_values const x = d.column("x");
  CHECK((x.chains == 2 && x.length() == 7));
  CHECK((x.chain(1)[0] == 20 && x.chain(1)[6] == 26));
  CHECK_THROWS_WITH(d.column("y"), Catch::Contains("no variable y"));
  CHECK(draws({"x"}, 3).column("x").values.empty());
}
