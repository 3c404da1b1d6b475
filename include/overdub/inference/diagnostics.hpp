// Diagnostics of chains: R-hat, effective sample sizes and Monte Carlo errors, of Vehtari, Gelman, Simpson, Carpenter and Bürkner
// 2021, "Rank-normalization, folding, and localization: an improved R-hat for assessing convergence of MCMC", Bayesian Analysis 16.
//
// All accept values of chains of one length, and are NaN where they are not defined: for less than 6 draws per chain, for a constant, and
// where a value is not finite. A factor of a power of two changes no R-hat and no sample size, and multiplies errors. Chains are split:
// each half counts as a chain. R-hat is O(n log n) in the number of draws, an effective sample size O(n) for each lag before the truncation
// of the autocorrelations.
#pragma once

#include <overdub/core/floating_point.hpp>
#include <overdub/core/library.hpp>
#include <overdub/inference/draws.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

namespace overdub::inference {

namespace diagnosing {

inline constexpr double none = std::numeric_limits<double>::quiet_NaN();

inline bool varies(chain_values const& x) {
  return std::ranges::all_of(x.values, [](double v) { return overdub::is_finite(v); }) &&
         std::ranges::any_of(x.values, [&](double v) { return v != x.values.front(); });
}
inline bool meaningful(chain_values const& x) { return x.length() >= 6 && varies(x); }

// The binary exponent of the largest magnitude. Values divided by that power of two have squares that neither overflow nor vanish, and
// the same bits otherwise.
int exponent_of(std::span<double const> x);
std::vector<double> divided_by_power(std::span<double const> x, int exponent);

double mean(std::span<double const> x);
// With n - 1 in the denominator.
inline double variance(std::span<double const> x) {
  double const m = mean(x);
  double sum = 0;
  for (double const v : x) sum += (v - m) * (v - m);
  return sum / static_cast<double>(x.size() - 1);
}
// The square root of the variance, of values of any magnitude.
double standard_deviation(std::span<double const> x);
// Linear interpolation of order statistics: definition 7 of Hyndman and Fan 1996, the default of R and NumPy.
double quantile_of_sorted(std::span<double const> x, double p);
double quantile(std::vector<double> x, double p);

// The halves of each chain; the middle draw of an odd number is left out.
chain_values split(chain_values const& x);

// Each value becomes the normal quantile of its rank; ties have their mean rank (equation 14 there).
chain_values rank_normalised(chain_values x);

// R-hat of split chains (equations 1 to 4 there).
double plain_rhat(chain_values const& x);

// The effective sample size of split chains (equations 10 to 13 there). The sum of autocorrelations is truncated by Geyer's initial
// monotone positive sequence. The result is at most n log10 n, since the sum may vanish for antithetic chains.
double plain_ess(chain_values const& x);

} // namespace diagnosing

/// R-hat: the maximum of the rank-normalised split R-hat of the values, and that of the folded values, their distances from the median,
/// which detects different scales. It is near 1 for chains that have mixed; above 1.01 they have not.
double rhat(chain_values const& x);

/// The effective sample size of the mean: the number of independent draws with the same standard error.
double ess_mean(chain_values const& x);

/// The bulk effective sample size: that of rank-normalised values.
double ess_bulk(chain_values const& x);

/// The effective sample size of the estimated quantile of a probability, from 0 to 1.
double ess_quantile(chain_values const& x, double probability);

/// The tail effective sample size: the minimum of those of the 5 % and 95 % quantiles.
double ess_tail(chain_values const& x);

/// The effective sample size of the standard deviation: of squared distances from the mean.
double ess_sd(chain_values const& x);

/// The Monte Carlo standard error of the mean.
double mcse_mean(chain_values const& x);

/// The Monte Carlo standard error of the standard deviation: that of the second moment, (m4 - m2²) / ESS, by the delta method.
double mcse_sd(chain_values const& x);

/// The Monte Carlo standard error of the quantile of a probability, between 0 and 1: half the distance between the quantiles of a central
/// 68 % interval of the probability, which has a beta distribution (section 4.3 there).
double mcse_quantile(chain_values const& x, double probability);

/// E-BFMI, the energy Bayesian fraction of missing information, of the energies of one chain (Betancourt 2016, "Diagnosing suboptimal
/// cotangent disintegrations in Hamiltonian Monte Carlo"). Below 0.3, momentum resampling changes the
/// energy too little, and the tails of the target are not explored.
double ebfmi(std::span<double const> energies);

} // namespace overdub::inference
