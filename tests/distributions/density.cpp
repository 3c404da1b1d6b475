// Log densities against Boost.Math's, and against formulas of textbooks in 50 digits where parameters are extreme.
#include "catch.hpp"

#include <overdub/distributions.hpp>

#include <boost/math/distributions/bernoulli.hpp>
#include <boost/math/distributions/beta.hpp>
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/cauchy.hpp>
#include <boost/math/distributions/exponential.hpp>
#include <boost/math/distributions/gamma.hpp>
#include <boost/math/distributions/geometric.hpp>
#include <boost/math/distributions/inverse_gamma.hpp>
#include <boost/math/distributions/lognormal.hpp>
#include <boost/math/distributions/negative_binomial.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/poisson.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <boost/math/distributions/uniform.hpp>
#include <boost/multiprecision/cpp_bin_float.hpp>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <string>
#include <tuple>

namespace {

namespace od = overdub;
namespace ds = overdub::distributions;
namespace bm = boost::math;
using od::i64;
using real = boost::multiprecision::cpp_bin_float_50;

constexpr double inf = ds::infinity, no_number = std::numeric_limits<double>::quiet_NaN();

// The error, relative to the maximum of 1 and the value.
double error(double found, double right) {
  if (found == right) return 0;
  double const e = std::abs(found - right) / std::max(1.0, std::abs(right));
  return std::isnan(e) ? inf : e;
}
double error(double found, real const& right) { return error(found, static_cast<double>(right)); }

template <class D, class Law, class X>
void agree(D const& d, Law const& law, std::initializer_list<X> xs) {
  for (X const x : xs) {
    INFO(ds::detail::text_of(d) << " at " << x);
    double const density = bm::pdf(law, static_cast<double>(x));
    if (density > 1e-290)
      CHECK(error(log_density(d, x), std::log(density)) < 2e-13);
    else // Boost underflows, or nearly
      CHECK(log_density(d, x) < -667);
  }
}

} // namespace

TEST_CASE("densities of numbers agree with Boost's") {
  for (double const m : {-3.0, 0.0, 1e4})
    for (double const s : {0.01, 1.0, 20.0}) {
      auto const xs = {m, m + s, m - 2.5 * s, m + 6 * s};
      agree(ds::normal(m, s), bm::normal(m, s), xs);
      agree(ds::cauchy(m, s), bm::cauchy(m, s), {m, m + s, m - 2.5 * s, m + 1e5 * s});
      for (double const df : {0.3, 1.0, 5.0, 19.9, 20.1, 300.0})
        for (double const z : {0.0, 0.7, -3.0, 40.0})
          CHECK(
              error(
                  log_density(ds::student_t(df, m, s), m + s * z),
                  std::log(bm::pdf(bm::students_t(df), ((m + s * z) - m) / s)) - std::log(s)) < 1e-12);
    }
  for (double const a : {0.2, 1.0, 3.5, 9.9, 10.1, 80.0})
    for (double const b : {0.2, 1.0, 3.5, 60.0}) {
      agree(ds::gamma(a, b), bm::gamma_distribution<>(a, 1 / b), {1e-3, 0.3 * a / b, a / b, 4 * a / b});
      agree(ds::inverse_gamma(a, b), bm::inverse_gamma(a, b), {0.3 * b / a, b / a, 4 * b / a});
      agree(ds::beta(a, b), bm::beta_distribution<>(a, b), {1e-6, 0.1, 0.5, 0.77, 0.999});
      agree(ds::lognormal(a, b), bm::lognormal(a, b), {1e-3, 1.0, std::exp(a)});
      agree(ds::exponential(b), bm::exponential(b), {0.0, 0.5, 3 / b});
      agree(ds::uniform(-a, b), bm::uniform(-a, b), {-a, 0.0, b});
      CHECK(
          log_density(ds::half_normal(a), a * b / 3) ==
          Approx(std::log(2 * bm::pdf(bm::normal(0, a), a * b / 3))).epsilon(1e-13));
    }
}

TEST_CASE("probabilities of integers agree with Boost's") {
  for (double const p : {0.001, 0.3, 0.5, 0.99}) {
    for (i64 const n : {1, 7, 30, 400})
      for (i64 const k : {i64{0}, i64{1}, n / 3, n - 1, n})
        if (k >= 0) agree(ds::binomial(n, p), bm::binomial(static_cast<double>(n), p), {k});
    agree(ds::geometric(p), bm::geometric(p), {0, 1, 5, 50});
    CHECK(log_density(ds::bernoulli(p), true) == std::log(p));
    CHECK(log_density(ds::bernoulli(p), false) == std::log1p(-p));
    CHECK(log_density(ds::bernoulli(p), 1) == std::log(p));
    double const logit = std::log(p / (1 - p));
    CHECK(error(log_density(ds::bernoulli_logit(logit), true), std::log(p)) < 1e-15);
    CHECK(error(log_density(ds::bernoulli_logit(logit), 0), std::log(1 - p)) < 1e-15);
    for (i64 const n : {0, 1, 7, 400})
      for (i64 const k : {i64{0}, n / 3, n})
        CHECK(
            log_density(ds::binomial_logit(n, logit), k) ==
            Approx(log_density(ds::binomial(n, p), k)).epsilon(1e-13).margin(1e-13));
  }
  for (double const mean : {0.01, 1.0, 12.0, 300.0}) {
    agree(ds::poisson(mean), bm::poisson(mean), {0, 1, 5, 9, 10, 11, 40, 300});
    for (double const c : {0.3, 2.0, 9.5, 40.0})
      agree(
          ds::negative_binomial(mean, c), bm::negative_binomial(c, c / (mean + c)), {0, 1, 5, 10, 100, 300});
  }
  CHECK(log_density(ds::discrete_uniform(-3, 4), 4) == -std::log(8.0));
  auto const odds = od::array<double>{1, 0, 2, 5};
  CHECK(log_density(ds::categorical(odds), 3) == Approx(std::log(5.0 / 8)));
  CHECK(log_density(ds::categorical(odds), 1) == -inf);
  auto const logits = od::array<double>{1001, 1000, 999};
  CHECK(
      log_density(ds::categorical_logit(logits), 1) == Approx(-std::log(1 + std::exp(1.0) + std::exp(-1.0))));
}

TEST_CASE("densities are accurate where textbook formulas cancel") {
  real const pi = bm::constants::pi<real>();
  auto const log_gamma = [](real const& a) { return bm::lgamma(a); };
  double worst = 0;
  auto const see = [&](std::string const& what, double found, real const& right, double bound) {
    INFO(what << ": " << found << ", " << static_cast<double>(right));
    CHECK(error(found, right) < bound);
    worst = std::max(worst, error(found, right));
  };
  for (double const shape : {1e-8, 0.5, 9.999, 10.0, 1e3, 1e6, 1e10, 1e15})
    for (double const z : {-3.0, 0.0, 0.5, 5.0})
      for (double const rate : {1e-3, 1.0, 1e5}) {
        double const x = std::max(shape + z * std::sqrt(shape), 0.1 * shape) / rate;
        real const a = shape, b = rate, y = x;
        // One unit in the last place of x moves the density by sqrt(shape) of that.
        double const bound = 1e-15 * (10 + std::sqrt(shape) * 10);
        see("gamma", log_density(ds::gamma(shape, rate), x),
            a * log(b) - log_gamma(a) + (a - 1) * log(y) - b * y, bound);
        see("inverse gamma", log_density(ds::inverse_gamma(shape, rate), 1 / x),
            a * log(b) - log_gamma(a) - (a + 1) * log(real(1 / x)) - b / real(1 / x), bound);
        i64 const k = static_cast<i64>(shape);
        see("poisson", log_density(ds::poisson(shape), k), real(k) * log(a) - a - log_gamma(real(k) + 1),
            bound);
      }
  for (double const a : {1e-6, 0.5, 3.0, 1e4, 1e9})
    for (double const b : {1e-6, 2.0, 1e4, 1e9})
      for (double const z : {-2.0, 0.0, 3.0}) {
        double const mean = a / (a + b), sd = std::sqrt(mean * (1 - mean) / (a + b + 1));
        double const x = std::clamp(mean + z * sd, 1e-10, 1 - 1e-10);
        real const p = a, q = b, y = x;
        see("beta", log_density(ds::beta(a, b), x),
            log_gamma(p + q) - log_gamma(p) - log_gamma(q) + (p - 1) * log(y) + (q - 1) * log(1 - y),
            1e-15 * (30 + 10 * std::sqrt(std::max(a, b))));
      }
  for (double const n : {20.0, 1e4, 1e12})
    for (double const p : {1e-9, 0.01, 0.5, 1 - 1e-9})
      for (double const z : {-2.0, 0.0, 3.0}) {
        double const at = std::floor(std::clamp(n * p + z * std::sqrt(n * p * (1 - p)), 0.0, n));
        real const N = n, K = at, P = p;
        see("binomial", log_density(ds::binomial(static_cast<i64>(n), p), static_cast<i64>(at)),
            log_gamma(N + 1) - log_gamma(K + 1) - log_gamma(N - K + 1) + K * log(P) + (N - K) * log(1 - P),
            1e-15 * (30 + 10 * std::sqrt(n)));
      }
  for (double const mean : {0.1, 50.0, 1e6})
    for (double const c : {1e-3, 1.0, 1e5, 1e12})
      for (i64 const k : {i64{0}, i64{3}, static_cast<i64>(mean)}) {
        real const M = mean, C = c, K = k;
        see("negative binomial", log_density(ds::negative_binomial(mean, c), k),
            log_gamma(K + C) - log_gamma(K + 1) - log_gamma(C) + K * log(M / (M + C)) + C * log(C / (M + C)),
            1e-15 * (100 + 10 * std::sqrt(mean)));
      }
  for (double const df : {1e-4, 0.5, 19.9, 20.0, 1e3, 1e8, 1e14})
    for (double const z : {0.0, 1e-3, 1.7, 1e3, 1e200}) {
      real const v = df, t = z;
      see("student", log_density(ds::student_t(df, 0.0, 1.0), z),
          log_gamma((v + 1) / 2) - log_gamma(v / 2) - log(v * pi) / 2 -
              (v + 1) / 2 * boost::multiprecision::log1p(t * t / v),
          3e-15);
    }
  CHECK(worst > 0);
}

TEST_CASE("tails and narrow intervals of truncated distributions are accurate") {
  auto const right = [](double low, double high, double x) { // of N(0, 1), in 50 digits
    real const r = boost::multiprecision::sqrt(real(2));
    real const mass = (bm::erfc(real(low) / r) - bm::erfc(real(high) / r)) / 2;
    return -real(x) * x / 2 - log(2 * bm::constants::pi<real>()) / 2 - log(mass);
  };
  for (auto const& [low, high] :
       {std::pair{-1.0, 2.0}, {0.0, 1.0},           {1.0, 5.0},    {-9.0, -8.0},         {19.5, 20.5},
        {30.0, 31.0},         {40.0, 200.0},        {-8.0, 8.0},   {-0.01, 0.02},        {2.0, 2.25},
        {0.1, 0.1001},        {0.3, 0.9},           {-1e-9, 3e-9}, {1.0, 1.0 + 0x1p-30}, {-0.45, -0.05},
        {3.0, 3.0 + 0x1p-20}, {0.0, 0.29},          {0.49, 0.81},  {5.0, 5.05},          {5.0, 5.06},
        {-5.06, -5.0},        {12.0, 12.0 + 0x1p-6}}) {
    double const x = 0.5 * (low + high);
    double const moved = 1e-13 + 4e-15 / (high - low); // the rounding error of 7 plus a bound
    INFO(low << " to " << high);
    CHECK(error(log_density(ds::truncated(ds::normal(0, 1), low, high), x), right(low, high, x)) < 1e-13);
    CHECK(
        error(
            log_density(ds::truncated(ds::normal(7, 2), 7 + 2 * low, 7 + 2 * high), 7 + 2 * x),
            right(low, high, x) - log(real(2))) < moved);
    CHECK(error(log_density(ds::truncated_below(ds::normal(0, 1), low), x), right(low, 1e4, x)) < 1e-13);
    CHECK(error(log_density(ds::truncated_above(ds::normal(0, 1), high), x), right(-1e4, high, x)) < 1e-13);
  }
  // An interval that is narrow relative to the scale of the distribution: nearly uniform.
  CHECK(error(log_density(ds::truncated(ds::normal(1e6, 1e4), 1, 1 + 0x1p-40), 1), std::log(0x1p40)) < 1e-11);
  CHECK(error(log_density(ds::truncated(ds::half_normal(3), 1, 1 + 0x1p-40), 1), std::log(0x1p40)) < 1e-12);
  CHECK(error(log_density(ds::truncated(ds::cauchy(1e6, 3), 1, 1 + 0x1p-40), 1), std::log(0x1p40)) < 1e-12);
  CHECK(
      error(log_density(ds::truncated(ds::cauchy(0, 1), 1e200, 2e200), 1e200), std::log(2 / 1e200)) < 1e-13);
  auto const e = ds::exponential(3.0);
  CHECK(
      log_density(ds::truncated(e, 1.0, 2.0), 1.5) ==
      Approx(log_density(e, 1.5) - std::log(std::exp(-3.0) - std::exp(-6.0))));
  CHECK(log_density(ds::truncated_below(e, 500.0), 501.0) == Approx(std::log(3.0) - 3.0));
  CHECK(log_density(ds::truncated(ds::uniform(0, 4), -1, 1), 0.5) == 0.0);
  auto const c = ds::cauchy(1.0, 2.0);
  CHECK(
      log_density(ds::truncated(c, 1e9, 2e9), 1.5e9) ==
      Approx(-std::log(1.5e9 * 1.5e9 / 1e9) - std::log(0.5)));
  CHECK(error(log_density(ds::truncated(c, -1.0, 3.0), 1.0), log_density(c, 1.0) + std::log(2.0)) < 1e-14);
}

TEST_CASE("outside of the support a density is 0, and for invalid parameters NaN") {
  auto const outside = [](auto const& d, auto... x) {
    INFO(ds::detail::text_of(d));
    for (bool const zero : {(log_density(d, x) == -inf)...}) CHECK(zero);
    if constexpr ((std::is_same_v<decltype(x), double> && ...)) CHECK(std::isnan(log_density(d, no_number)));
  };
  outside(ds::normal(0, 1), inf, -inf);
  outside(ds::student_t(3, 0, 1), inf, -inf);
  outside(ds::cauchy(0, 1), inf, -inf);
  outside(ds::lognormal(0, 1), 0.0, -1.0, inf);
  outside(ds::half_normal(1), -1e-300, inf);
  outside(ds::exponential(1), -1e-300, inf);
  outside(ds::gamma(0.5, 1), 0.0, -1.0, inf);
  outside(ds::inverse_gamma(0.5, 1), 0.0, -1.0, inf);
  outside(ds::beta(0.5, 0.5), 0.0, 1.0, -1.0, 2.0, inf);
  outside(ds::uniform(1, 2), 0.999, 2.001, inf, -inf);
  outside(ds::truncated(ds::normal(0, 1), 1, 2), 0.999, 2.001, inf);
  outside(ds::truncated(ds::exponential(1), -1, 2), -0.5);
  outside(ds::truncated_below(ds::normal(0, 1), 1), 0.9, inf);
  outside(ds::truncated_above(ds::cauchy(0, 1), 1), 1.1, -inf);
  outside(ds::bernoulli(0.5), 2, -1);
  outside(ds::bernoulli_logit(0.5), 2, -1);
  outside(ds::binomial(3, 0.5), 4, -1);
  outside(ds::binomial_logit(3, 0.5), 4, -1);
  outside(ds::poisson(2), -1);
  outside(ds::negative_binomial(2, 1), -1);
  outside(ds::geometric(0.5), -1);
  outside(ds::discrete_uniform(1, 3), 0, 4);
  outside(ds::categorical(od::array<double>{1, 2}), -1, 2);
  outside(ds::categorical_logit(od::array<double>{1, 2}), -1, 2);
  auto const m = ds::mixture(std::tuple(1, 2), ds::exponential(1), ds::uniform(1, 2));
  CHECK(log_density(m, -1.0) == -inf);
  CHECK(log_density(m, 1.5) == Approx(std::log((std::exp(-1.5) + 2) / 3)));
  CHECK(log_density(ds::mixture(std::tuple(0, 1), ds::exponential(1), ds::uniform(1, 2)), 0.5) == -inf);
  // A component of weight 0 is ignored, however large its density.
  CHECK(
      log_density(ds::mixture(std::tuple(0, 1), ds::normal(0, 1), ds::normal(100, 1)), 0.0) ==
      log_density(ds::normal(100, 1), 0.0));
  CHECK(
      log_density(ds::mixture(std::tuple(2, 0), ds::poisson(1e-3), ds::poisson(500)), 500) ==
      Approx(log_density(ds::poisson(1e-3), 500)));
  auto const far = ds::truncated(ds::normal(0, 1), 1e200, 2e200); // NaN there
  CHECK(
      log_density(ds::mixture(std::tuple(0, 1), far, ds::cauchy(0, 1)), 1.5e200) ==
      log_density(ds::cauchy(0, 1), 1.5e200));
  CHECK(std::isnan(log_density(ds::mixture(std::tuple(0.5, 0.5), far, ds::cauchy(0, 1)), 1.5e200)));
  CHECK(std::isnan(log_density(ds::mixture(std::tuple(0.5, 0.5), ds::cauchy(0, 1), far), 1.5e200)));
  CHECK(log_density(ds::dirichlet(od::array<double>{1, 2}), od::array<double>{0.6, 0.5}) == -inf);
  CHECK(log_density(ds::dirichlet(od::array<double>{1, 2}), od::array<double>{0.0, 1.0}) == -inf);

  CHECK(std::isnan(log_density(ds::normal(0, -1), 0.0)));
  CHECK(std::isnan(log_density(ds::normal(0, 0), inf)));
  CHECK(std::isnan(log_density(ds::gamma(-1, 1), 1.0)));
  CHECK(std::isnan(log_density(ds::beta(1, no_number), 0.5)));
  CHECK(std::isnan(log_density(ds::uniform(2, 2), 2.0)));
  CHECK(std::isnan(log_density(ds::uniform(-1e308, 1e308), 0.0)));
  CHECK(std::isnan(log_density(ds::truncated_above(ds::exponential(1), 0), 0.0)));
  CHECK(std::isnan(log_density(ds::truncated(ds::uniform(0, 1), 1, 2), 1.0)));
  CHECK(std::isnan(log_density(ds::truncated(ds::half_normal(1), -2, 0), 0.0)));
  CHECK(std::isnan(log_density(ds::truncated_below(ds::uniform(0, 1), 1), 1.0)));
  CHECK(std::isnan(log_density(ds::bernoulli(1.5), true)));
  CHECK(std::isnan(log_density(ds::binomial(-1, 0.5), 0)));
  CHECK(std::isnan(log_density(ds::poisson(-1), 7)));
  CHECK(std::isnan(log_density(ds::truncated(ds::normal(0, -1), 1, 2), 1.5)));
  CHECK(std::isnan(log_density(ds::mixture(std::tuple(1, -2), ds::normal(0, 1), ds::normal(1, 1)), 0.5)));
  CHECK(std::isnan(log_density(ds::dirichlet(od::array<double>{1, -2}), od::array<double>{0.5, 0.5})));
  CHECK(std::isnan(log_density(ds::categorical(od::array<double>{1, -2}), 0)));
}

TEST_CASE("arrays with a NaN element, empty arrays, and short rows") {
  using vector = od::array<double>;
  CHECK(std::isnan(log_density(ds::dirichlet(vector{1, 2}), vector{no_number, 1.0})));
  auto const triangle = od::array<vector>{vector{1, 0}, vector{0.5, 2}};
  CHECK(std::isnan(log_density(ds::multivariate_normal(vector{0, 0}, triangle), vector{0, no_number})));
  CHECK(log_density(ds::multivariate_normal(vector{0, 0}, triangle), vector{0, inf}) == -inf);
  auto const empty = vector{};
  CHECK(!is_valid(ds::categorical(empty)));
  CHECK(!is_valid(ds::categorical_logit(empty)));
  CHECK(std::isnan(log_density(ds::categorical(empty), 0)));
  CHECK(std::isnan(log_density(ds::categorical_logit(empty), 0)));
  CHECK_THROWS_WITH(
      check(ds::categorical_logit(empty)),
      "overdub: categorical_logit: logits is [], and must be finite numbers, one at least");
  for (auto const& rows : {od::array<vector>{vector{1}, vector{0.5}}, {vector{1, 0}, vector{}}}) {
    CHECK(!is_valid(ds::multivariate_normal(vector{0, 0}, rows)));
    CHECK(std::isnan(log_density(ds::multivariate_normal(vector{0, 0}, rows), vector{0, 1})));
  }
}

TEST_CASE("degenerate distributions at the boundary of the parameters") {
  CHECK(log_density(ds::bernoulli(1), true) == 0.0);
  CHECK(log_density(ds::bernoulli(1), false) == -inf);
  CHECK(log_density(ds::binomial(5, 0), 0) == 0.0);
  CHECK(log_density(ds::binomial(5, 0), 1) == -inf);
  CHECK(log_density(ds::binomial(5, 1), 5) == 0.0);
  CHECK(log_density(ds::binomial(0, 0.3), 0) == 0.0);
  CHECK(log_density(ds::poisson(0), 0) == 0.0);
  CHECK(log_density(ds::poisson(0), 1) == -inf);
  CHECK(log_density(ds::geometric(1), 0) == 0.0);
  CHECK(log_density(ds::geometric(1), 2) == -inf);
  CHECK(log_density(ds::uniform(0, 1), 1.0) == 0.0);
  CHECK(log_density(ds::bernoulli_logit(-800), true) == -800.0);
  CHECK(log_density(ds::binomial_logit(7, -800), 7) == -5600.0);
  CHECK(log_density(ds::binomial_logit(7, 800), 7) == 0.0);
  for (i64 const n : {i64{1000000000}, i64{1000000000000000}})
    CHECK(
        log_density(ds::binomial_logit(n, -701), 1) ==
        Approx(std::log(static_cast<double>(n)) - 701).epsilon(1e-14));
  CHECK(log_density(ds::binomial_logit(7, 699), 6) == Approx(std::log(7) - 699).epsilon(1e-14));
  CHECK(log_density(ds::binomial_logit(7, 701), 6) == Approx(std::log(7) - 701).epsilon(1e-14));
}

TEST_CASE("arrays: dirichlet and multivariate_normal") {
  using vector = od::array<double>;
  // A uniform density on the triangle, and a beta density of two parts.
  CHECK(log_density(ds::dirichlet(vector{1, 1, 1}), vector{0.2, 0.3, 0.5}) == Approx(std::log(2.0)));
  CHECK(
      log_density(ds::dirichlet(vector{0.3, 40}), vector{0.01, 0.99}) ==
      Approx(log_density(ds::beta(0.3, 40), 0.01)).epsilon(1e-13));
  auto const triangle = od::array<vector>{vector{2, 0, 0}, vector{-1, 0.5, 0}, vector{3, 1, 4}};
  auto const mean = vector{1, 2, 3}, x = vector{0, 4, 1};
  // L z = x - mean, solved by hand: z = (-1/2, 3, -5/4 - ...), the rows one after the other.
  double const z0 = -1.0 / 2, z1 = (2 + z0) / 0.5, z2 = (-2 - 3 * z0 - z1) / 4;
  CHECK(
      log_density(ds::multivariate_normal(mean, triangle), x) ==
      Approx(-0.5 * (z0 * z0 + z1 * z1 + z2 * z2) - std::log(2 * 0.5 * 4) - 1.5 * std::log(2 * M_PI)));
  CHECK(log_density(ds::multivariate_normal(mean, triangle), vector{0, inf, 1}) == -inf);
  CHECK_THROWS_AS(log_density(ds::multivariate_normal(mean, triangle), vector{0, 1}), od::size_error);
  auto const flat = od::array<vector>{vector{0, 0}, vector{0, 1}};
  CHECK(std::isnan(log_density(ds::multivariate_normal(vector{0, 0}, flat), vector{0, 1})));
}

TEST_CASE("invalid parameters are reported with a diagnostic") {
  auto const said = [](auto const& d) {
    try {
      check(d);
    } catch (ds::parameter_error const& e) {
      od::random_generator g(od::random_key(1));
      CHECK_THROWS_AS(draw(d, g), ds::parameter_error);
      return std::string(e.what());
    }
    return std::string();
  };
  CHECK(said(ds::normal(0, 1)).empty());
  CHECK(said(ds::normal(0, -1)) == "overdub: normal: sd is -1, and must be finite, and greater than 0");
  CHECK(said(ds::normal(no_number, 1)) == "overdub: normal: mean is nan, and must be finite");
  CHECK(
      said(ds::binomial(-2, 0.5)) == "overdub: binomial: trials is -2, and must be 0 or a positive integer");
  CHECK(said(ds::bernoulli(1.5)) == "overdub: bernoulli: probability is 1.5, and must be from 0 to 1");
  CHECK(
      said(ds::uniform(2, 1)) ==
      "overdub: uniform: low must be less than high, by a finite number; it is uniform(2, 1)");
  CHECK(
      said(ds::uniform(-1e308, 1e308)) ==
      "overdub: uniform: low must be less than high, by a finite number; it is uniform(-1e+308, 1e+308)");
  CHECK(
      said(ds::dirichlet(od::array<double>{1, 0, 2})) ==
      "overdub: dirichlet: concentrations is [1, 0, 2], and must be finite numbers greater than 0, one at "
      "least");
  CHECK(
      said(ds::categorical(od::fill(i64{9}, 0.0))) ==
      "overdub: categorical: probabilities is [0, 0, 0, 0, 0, 0, ...], and must be numbers not less than 0, "
      "with a finite sum above 0");
  CHECK(
      said(ds::truncated(ds::normal(0, 0), 1, 2)) ==
      "overdub: normal: sd is 0, and must be finite, and greater than 0");
  CHECK(
      said(ds::truncated(ds::normal(0, 1), 2, 2)) ==
      "overdub: truncated: low must be less than high; it is truncated(normal(0, 1), 2, 2)");
  CHECK(
      said(ds::mixture(std::tuple(1, -2), ds::normal(0, 1), ds::normal(1, 1))) ==
      "overdub: mixture: weight 1 is -2, and must be finite, and not less than 0");
  CHECK(
      said(ds::mixture(std::tuple(1, 2), ds::normal(0, 1), ds::normal(1, -1))) ==
      "overdub: normal: sd is -1, and must be finite, and greater than 0");
  od::random_generator g(od::random_key(1));
  CHECK_THROWS_WITH(
      draw(ds::truncated(ds::exponential(1), -2, -1), g),
      "overdub: truncated: exponential(1) has no probability between -2 and -1");
}
