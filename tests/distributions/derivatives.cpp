// Run by clang: each family is differentiated in its own types.
//
// The derivatives of log densities, by the variable and by all parameters, in each mode; and at boundaries, where they must be finite.
#include "catch.hpp"

#include <overdub/contexts/check_finite.hpp>
#include <overdub/distributions.hpp>
#include <overdub/reverse.hpp>
#include <overdub/special.hpp>
#include <overdub/test_derivative.hpp>

#include <cmath>
#include <tuple>

namespace {

namespace od = overdub;
namespace ds = overdub::distributions;
using od::gradient;
using od::i64;
using od::test_derivative;
using vector = od::array<double>;

// The log density as a function of the variable and of the parameters.
template <class Family>
inline constexpr auto density_of = od::fn<"density">([](auto x, auto... p) {
  return Family::log_density(x, p...);
});

template <class Family, class X, class... P>
void right_at(Family, X const& x, P const&... p) {
  auto const report = test_derivative(density_of<Family>, x, p...);
  INFO(Family::name() << '\n' << report.text());
  CHECK(report);
}

inline constexpr auto of_mixture = od::fn<"of_mixture">([](auto x, auto w, auto m, auto s) {
  return log_density(ds::mixture(std::tuple(w, 0.5), ds::normal(m, s), ds::exponential(s)), x);
});
inline constexpr auto of_truncated = od::fn<"of_truncated">([](auto x, auto m, auto s, auto low, auto high) {
  return log_density(ds::truncated(ds::normal(m, s), low, high), x) +
         log_density(ds::truncated(ds::exponential(s), low, high), x) +
         log_density(ds::truncated(ds::cauchy(m, s), low, high), x) +
         log_density(ds::truncated(ds::lognormal(m, s), low, high), x);
});
inline constexpr auto of_half_lines =
    od::fn<"of_half_lines">([](auto x, auto m, auto s, auto low, auto high) {
      return log_density(ds::truncated_below(ds::normal(m, s), low), x) +
             log_density(ds::truncated_above(ds::normal(m, s), high), x) +
             log_density(ds::truncated_below(ds::half_normal(s), low), x) +
             log_density(ds::truncated_above(ds::half_normal(s), high), x);
    });
inline constexpr auto of_parts = od::fn<"of_parts">([](auto y, auto concentrations) {
  return log_density(ds::dirichlet(concentrations), ds::simplex::constrain(y));
});
// A covariance that depends on a parameter: the function computes its Cholesky factor.
inline constexpr auto of_vectors = od::fn<"of_vectors">(
    [](auto x, auto mean, auto rows) { return log_density(ds::multivariate_normal(mean, rows), x); });

} // namespace

TEST_CASE("derivatives of densities on the real line") {
  right_at(ds::normal, 0.3, 1.2, 0.7);
  right_at(ds::student_t, 0.3, 3.0, 1.2, 0.7);
  right_at(ds::student_t, 9.0, 31.0, 1.2, 0.7);
  right_at(ds::cauchy, 0.3, 1.2, 0.7);
  right_at(ds::cauchy, 0.3, 0.4, 0.7);
}

TEST_CASE("derivatives of densities of positive numbers") {
  right_at(ds::lognormal, 0.3, 1.2, 0.7);
  right_at(ds::half_normal, 0.3, 0.7);
  right_at(ds::exponential, 0.3, 0.7);
  for (double const shape : {0.4, 9.9, 10.1, 30.0}) {
    right_at(ds::gamma, shape / 3, shape, 2.7);
    right_at(ds::inverse_gamma, 2.9 / shape, shape, 2.7);
  }
}

TEST_CASE("derivatives of densities between bounds") {
  right_at(ds::beta, 0.3, 0.6, 12.0);
  right_at(ds::beta, 0.7, 15.0, 6.0);
  right_at(ds::uniform, 0.3, -1.0, 2.0);
  CHECK(test_derivative(of_truncated, 1.3, 0.4, 1.1, 0.9, 2.0));
  CHECK(test_derivative(of_truncated, 1.3, 1.6, 1.1, 0.9, 2.0));
  CHECK(test_derivative(of_truncated, 1.3, 1.6, 1.1, 1.2, 1.4)); // narrow intervals
  CHECK(test_derivative(of_truncated, 4.3, 1.6, 1.1, 4.22, 4.38));
  CHECK(test_derivative(of_truncated, 1.3, 0.9, 1.1, 1.1, 2.0)); // on one side, and near the middle
  CHECK(test_derivative(of_half_lines, 1.3, 0.4, 1.1, 0.9, 2.0));
}

TEST_CASE("derivatives of probabilities by the parameters") {
  right_at(ds::bernoulli, i64{1}, 0.3);
  right_at(ds::bernoulli, false, 0.3);
  right_at(ds::bernoulli_logit, true, 0.3);
  right_at(ds::binomial, i64{3}, i64{30}, 0.3);
  right_at(ds::binomial_logit, i64{3}, i64{30}, -1.3);
  right_at(ds::poisson, i64{3}, 4.5);
  right_at(ds::poisson, i64{30}, 4.5);
  right_at(ds::negative_binomial, i64{3}, 4.5, 1.5);
  right_at(ds::negative_binomial, i64{30}, 24.5, 11.5);
  right_at(ds::geometric, i64{3}, 0.4);
  right_at(ds::categorical, i64{1}, vector{0.2, 0.3, 0.5});
  right_at(ds::categorical_logit, i64{1}, vector{0.2, -0.3, 0.5});
}

TEST_CASE("derivatives of densities of arrays, and of a mixture") {
  CHECK(test_derivative(of_parts, vector{0.1, -0.3}, vector{0.5, 12.0, 3.0}));
  CHECK(test_derivative(
      of_vectors, vector{0.1, -0.3}, vector{1.0, 2.0}, od::array<vector>{vector{2, 0.1}, vector{-1, 0.5}}));
  CHECK(test_derivative(of_mixture, 0.7, 0.2, 0.4, 1.3));
}

inline constexpr auto of_weighed = od::fn<"of_weighed">([](auto x, auto w) {
  return log_density(ds::mixture(std::tuple(w, 1.0 - w), ds::normal(0, 1), ds::normal(100, 1)), x);
});

TEST_CASE("gradients outside of the support and at its boundary are finite") {
  auto const finite = [](auto const& xs) {
    bool all = true;
    od::each_leaf([&](double x) { all = all && std::isfinite(x); }, xs);
    return all;
  };
  for (double const x : {-1.0, 0.0, 1.0, 2.0}) {
    INFO(x);
    CHECK(finite(gradient<0, 1, 2>(density_of<ds::gamma_t>)(x, 2.0, 3.0)));
    CHECK(finite(gradient<0, 1, 2>(density_of<ds::inverse_gamma_t>)(x, 2.0, 3.0)));
    CHECK(finite(gradient<0, 1, 2>(density_of<ds::lognormal_t>)(x, 2.0, 3.0)));
    CHECK(finite(gradient<0, 1, 2>(density_of<ds::beta_t>)(x, 0.5, 0.7)));
    CHECK(finite(gradient<0, 1, 2>(density_of<ds::uniform_t>)(x, 0.0, 1.0)));
    CHECK(finite(gradient<0, 1>(density_of<ds::exponential_t>)(x, 2.0)));
    CHECK(finite(gradient<0, 1>(density_of<ds::half_normal_t>)(x, 2.0)));
    CHECK(finite(gradient<0, 1, 2, 3>(of_mixture)(x, 0.2, 0.4, 1.3)));
    CHECK(finite(gradient<0, 1, 2, 3, 4>(of_truncated)(x, 0.4, 1.1, 0.5, 1.5)));
  }
  CHECK(finite(gradient<0>(of_mixture)(-1e200, 0.0, 0.4, 1.3))); // no component has a density there
  CHECK(finite(gradient<0, 1, 2>(density_of<ds::cauchy_t>)(1e200, 0.0, 1.0)));
  CHECK(finite(gradient<0, 1, 2, 3>(density_of<ds::student_t_t>)(1e200, 3.0, 0.0, 1.0)));
  CHECK(finite(gradient<1>(density_of<ds::poisson_t>)(i64{0}, 0.0)));
  // A component of weight 0: the derivative by x is that of the other one; that by the weight is the ratio of the densities.
  CHECK(gradient<0>(of_weighed)(0.5, 0.0) == 99.5);
  CHECK(gradient<1>(of_weighed)(99.0, 0.0) == Approx(std::exp(-99.0 * 99.0 / 2 + 0.5) - 1));
  CHECK(std::isfinite(gradient<1>(of_weighed)(0.5, 0.0)));
  CHECK(gradient<1>(density_of<ds::poisson_t>)(i64{0}, 0.0) == -1.0);
  CHECK(gradient<2>(density_of<ds::binomial_t>)(i64{0}, i64{7}, 0.0) == -7.0);
  CHECK(gradient<2>(density_of<ds::binomial_t>)(i64{7}, i64{7}, 1.0) == 7.0);
  CHECK(gradient<1>(density_of<ds::bernoulli_t>)(i64{0}, 0.0) == -1.0);
  CHECK(gradient<1>(density_of<ds::bernoulli_logit_t>)(true, 0.0) == 0.5);
  CHECK(gradient<1>(density_of<ds::geometric_t>)(i64{0}, 1.0) == 1.0);
  CHECK(gradient<2>(density_of<ds::binomial_logit_t>)(i64{7}, i64{7}, -800.0) == 7.0);
  CHECK(gradient<2>(density_of<ds::binomial_logit_t>)(i64{7}, i64{7}, -20.0) == Approx(7.0));
}

inline constexpr auto of_distribution =
    od::fn<"of_distribution">([](auto d, auto x) { return log_density(d, x); });

TEST_CASE("the gradient by a distribution is a tree of the same structure") {
  auto const g = gradient<0>(of_distribution)(ds::normal(0.0, 2.0), 2.0);
  CHECK(std::get<0>(g.parameters) == 0.5);
  CHECK(std::get<1>(g.parameters) == 0.0);
}

// check_finite throws at the first operation whose result is not finite.
TEST_CASE("at ordinary points no operation of a density returns infinity or NaN") {
  auto const ordinary = [](auto family, auto const& x, auto const&... p) {
    INFO(family.name());
    od::contexts::check_finite context;
    CHECK_NOTHROW(od::run(context, density_of<decltype(family)>, x, p...));
  };
  for (double const a : {0.5, 3.0, 30.0}) {
    ordinary(ds::normal, 0.3, a, 0.7);
    ordinary(ds::student_t, 9.0, a, 1.2, 0.7);
    ordinary(ds::cauchy, 0.3, a, 0.7);
    ordinary(ds::lognormal, 0.3, a, 0.7);
    ordinary(ds::half_normal, 0.3, a);
    ordinary(ds::exponential, 0.3, a);
    ordinary(ds::gamma, 0.3, a, 2.7);
    ordinary(ds::inverse_gamma, 0.3, a, 2.7);
    ordinary(ds::beta, 0.3, a, 0.7);
    ordinary(ds::uniform, 0.3, 0.0, a);
    ordinary(ds::poisson, i64{3}, a);
    ordinary(ds::negative_binomial, i64{3}, a, 2.0);
  }
  ordinary(ds::bernoulli, true, 0.3);
  ordinary(ds::bernoulli_logit, true, 0.3);
  ordinary(ds::binomial, i64{0}, i64{4}, 0.3);
  ordinary(ds::binomial_logit, i64{0}, i64{4}, 0.3);
  ordinary(ds::geometric, i64{3}, 0.4);
  ordinary(ds::discrete_uniform, i64{3}, i64{1}, i64{4});
  ordinary(ds::categorical, i64{1}, vector{1, 2});
  ordinary(ds::categorical_logit, i64{1}, vector{1, 2});
  ordinary(ds::dirichlet, vector{0.3, 0.7}, vector{1, 20});
  ordinary(
      ds::multivariate_normal, vector{0.3, 0.7}, vector{1, 2}, od::array<vector>{vector{1, 0}, vector{1, 1}});
  od::contexts::check_finite context;
  CHECK_NOTHROW(od::run(context, of_mixture, 0.4, 0.2, 0.4, 1.3));
}
