// Distributions of arrays: dirichlet, multivariate_normal.
#pragma once

#include <overdub/distributions/distribution.hpp>
#include <overdub/distributions/gamma_terms.hpp>
#include <overdub/distributions/standard_draws.hpp>
#include <overdub/random.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace overdub::distributions {

/// Cholesky factors: lower triangular matrices with a positive diagonal, as arrays of rows. Elements above the diagonal are finite and
/// ignored.
struct cholesky_factors {
  static constexpr std::string_view phrase = "rows of a square lower triangle with a positive diagonal";
  static constexpr auto contains(auto const& rows) {
    auto const n = size(rows);
    return sum(map(
               [&](auto const& row, auto const& i) {
                 return if_(
                     size(row) == n, // else element i may be out of range
                     [&] { return select(at(row, i) > 0.0 && at(row, i) < infinity, i64{0}, i64{1}); },
                     [] { return i64{1}; });
               },
               rows, iota(n))) == i64{0};
  }
};

/// dirichlet(concentrations): arrays of positive numbers whose sum is 1, of the size of the concentrations. With a the concentrations and n
/// their sum, Gamma(n) prod_i x_i^(a_i - 1) / Gamma(a_i), as a density of all elements but the last. Throws size_error where x has another
/// size. O(size).
struct dirichlet_t : distribution<"dirichlet", dirichlet_t> {
  static constexpr std::tuple parameters{parameter<positive_vectors>{"concentrations"}};
  static constexpr simplex support(auto const&...) { return {}; }
  static constexpr auto log_density_at(auto const& x, auto const& concentrations) {
    auto const n = sum(concentrations);
    auto const terms =
        map([&](auto const& p, auto const& a) { return log_poisson_term(a, n * p) + log(a) - log(p); }, x,
            concentrations);
    return sum(terms) - log_poisson_term(n, n) - log(n);
  }
  static array<double> draw(bit_generator auto& g, array<double> const& concentrations) {
    std::vector<double> x;
    double largest = -infinity, total = 0;
    for (double const a : concentrations)
      x.push_back(draw_log_gamma(g, a)), largest = std::max(largest, x.back());
    if (largest == -infinity) { // all gamma variables underflow: the mass is in one element
      i64 const chosen =
          draw_index(g, concentrations.size(), sum(concentrations), [&](i64 i) { return concentrations[i]; });
      x[static_cast<std::size_t>(chosen)] = largest = 0;
    }
    for (double& each : x) total += each = std::exp(each - largest);
    for (double& each : x) each = kept_between_0_and_1(each / total);
    return array<double>::copy_of(x);
  }
};
inline constexpr dirichlet_t dirichlet{};

/// multivariate_normal(mean, cholesky), with the covariance L L^T of the lower triangle L = cholesky, an array of rows: with z the solution
/// of L z = x - mean, exp(-z.z / 2) / (det L (2 pi)^(n / 2)). NaN where a row has another length than the number of rows. Throws size_error
/// where the sizes of x, the mean and the matrix differ. O(n^2).
struct multivariate_normal_t : distribution<"multivariate_normal", multivariate_normal_t> {
  static constexpr std::tuple parameters{
      parameter<real_vectors>{"mean"}, parameter<cholesky_factors>{"cholesky"}};
  static constexpr real_vectors support(auto const&...) { return {}; }
  template <scope Scope>
  static constexpr auto log_density_at(Scope& cx, auto const& x, auto const& mean, auto const& cholesky) {
    auto const n = size(x, mean, cholesky);
    auto const centred = map(sub, x, mean);
    // Forward substitution: unsolved elements are 0.
    auto const z = cx(loop, n, fill(n, 0.0), [&](auto const& i, auto solved) {
      auto const row = at(cholesky, i);
      auto const next = (at(centred, i) - dot(row, solved)) / at(row, i);
      return update(std::move(solved), i, next);
    });
    auto const log_det =
        sum(map([](auto const& row, auto const& i) { return log(at(row, i)); }, cholesky, iota(n)));
    return -0.5 * dot(z, z) - log_det - 0.5 * log_two_pi * convert<double>(n);
  }
  static array<double>
  draw(bit_generator auto& g, array<double> const& mean, array<array<double>> const& cholesky) {
    std::vector<double> z, x;
    (void)size(mean, cholesky);
    for (i64 i = 0; i < mean.size(); ++i) {
      z.push_back(draw_normal(g));
      double shift = 0;
      for (i64 j = 0; j <= i; ++j) shift += cholesky[i][j] * z[static_cast<std::size_t>(j)];
      x.push_back(kept_finite(mean[i] + shift));
    }
    return array<double>::copy_of(x);
  }
};
inline constexpr multivariate_normal_t multivariate_normal{};

} // namespace overdub::distributions
