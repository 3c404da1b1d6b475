// Diagnostics of chains: R-hat, effective sample sizes and Monte Carlo errors, of Vehtari, Gelman, Simpson, Carpenter and Bürkner
// 2021, "Rank-normalization, folding, and localization: an improved R-hat for assessing convergence of MCMC", Bayesian Analysis 16.
//
// All take values of chains of one length, and are NaN where they have no meaning: of less than 6 draws a chain, of a constant, and
// where a value is not finite. Draws are split: each half of a chain counts as a chain. An R-hat takes time n log n in the number of
// draws, an effective sample size n for each lag up to where the autocorrelation is lost in noise.
#pragma once

#include <overdub/contexts/inference/draws.hpp>

#include <boost/math/special_functions/beta.hpp>
#include <boost/math/special_functions/erf.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>
#include <numeric>
#include <span>
#include <vector>

namespace overdub::inference {

namespace diagnosing {

inline constexpr double none = std::numeric_limits<double>::quiet_NaN();

inline bool varies(chain_values const& x) {
  return std::ranges::all_of(x.values, [](double v) { return std::isfinite(v); }) &&
         std::ranges::any_of(x.values, [&](double v) { return v != x.values.front(); });
}
inline bool meaningful(chain_values const& x) { return x.length() >= 6 && varies(x); }

inline double mean(std::span<double const> x) {
  return std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(x.size());
}
// With n - 1 in the denominator.
inline double variance(std::span<double const> x) {
  double const m = mean(x);
  double sum = 0;
  for (double const v : x) sum += (v - m) * (v - m);
  return sum / static_cast<double>(x.size() - 1);
}
// Between the order statistics, linearly: definition 7 of Hyndman and Fan 1996, which R and NumPy have as their default.
inline double quantile_of_sorted(std::span<double const> x, double p) {
  double const place = p * static_cast<double>(x.size() - 1);
  auto const below = static_cast<std::size_t>(place);
  std::size_t const above = std::min(below + 1, x.size() - 1);
  return x[below] + (place - static_cast<double>(below)) * (x[above] - x[below]);
}
inline double quantile(std::vector<double> x, double p) {
  std::ranges::sort(x);
  return quantile_of_sorted(x, p);
}

// The halves of each chain; the middle draw of an odd number is left out.
inline chain_values split(chain_values const& x) {
  std::size_t const n = x.length(), half = n / 2;
  chain_values halves{{}, 2 * x.chains};
  halves.values.reserve(2 * half * x.chains);
  for (std::size_t c = 0; c < x.chains; ++c) {
    auto const chain = x.chain(c);
    halves.values.insert(
        halves.values.end(), chain.begin(), chain.begin() + static_cast<std::ptrdiff_t>(half));
    halves.values.insert(halves.values.end(), chain.end() - static_cast<std::ptrdiff_t>(half), chain.end());
  }
  return halves;
}

// Each value becomes the normal quantile of its rank among all, equal ones that of their mean rank (equation 14 there).
inline chain_values rank_normalised(chain_values x) {
  std::size_t const n = x.values.size();
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) { return x.values[a] < x.values[b]; });
  std::vector<double> z(n);
  for (std::size_t i = 0, j = 0; i < n; i = j) {
    while (j < n && x.values[order[j]] == x.values[order[i]]) ++j;
    double const rank = static_cast<double>(i + 1 + j) / 2;
    double const probability = (rank - 0.375) / (static_cast<double>(n) + 0.25);
    double const score = -std::numbers::sqrt2 * boost::math::erfc_inv(2 * probability);
    for (std::size_t k = i; k < j; ++k) z[order[k]] = score;
  }
  x.values = std::move(z);
  return x;
}

// What each value becomes by f.
template <class F>
chain_values transformed(chain_values x, F const& f) {
  for (double& v : x.values) v = f(v);
  return x;
}

// Of chains that are split already (equations 1 to 4 there).
inline double plain_rhat(chain_values const& x) {
  auto const n = static_cast<double>(x.length());
  double within = 0;
  std::vector<double> means;
  for (std::size_t c = 0; c < x.chains; ++c) {
    within += variance(x.chain(c)) / static_cast<double>(x.chains);
    means.push_back(mean(x.chain(c)));
  }
  double const between = variance(means);
  return std::sqrt(((n - 1) / n * within + between) / within);
}

// Of chains that are split already (equations 10 to 13 there): the sum of autocorrelations, over all chains, ends by Geyer's initial
// positive sequence of sums of pairs, which is made monotone. At most n log10 n, as for antithetic chains the sum may be nothing.
inline double plain_ess(chain_values const& x) {
  if (!varies(x)) return none;
  std::size_t const n = x.length();
  auto const length = static_cast<double>(n), all = length * static_cast<double>(x.chains);
  std::vector<double> means, centred = x.values;
  for (std::size_t c = 0; c < x.chains; ++c) {
    means.push_back(mean(x.chain(c)));
    for (std::size_t i = 0; i < n; ++i) centred[c * n + i] -= means.back();
  }
  auto const autocovariance = [&](std::size_t lag) {
    double sum = 0;
    for (std::size_t c = 0; c < x.chains; ++c) {
      double const* const chain = centred.data() + c * n;
      for (std::size_t i = 0; i + lag < n; ++i) sum += chain[i] * chain[i + lag];
    }
    return sum / all;
  };
  double const within = autocovariance(0) * length / (length - 1);
  double const total = autocovariance(0) + (x.chains > 1 ? variance(means) : 0);
  auto const correlation = [&](std::size_t lag) { return 1 - (within - autocovariance(lag)) / total; };

  double sum = 0; // of pairs, made monotone
  double even = 1, odd = correlation(1), least = std::numeric_limits<double>::infinity();
  for (std::size_t lag = 0; even + odd > 0 && lag + 5 < n;) {
    least = std::min(least, even + odd);
    sum += least;
    lag += 2;
    even = correlation(lag);
    odd = correlation(lag + 1);
  }
  // What the first pair that is left out begins with takes away some of the bias.
  double const time = std::max(-1 + 2 * sum + std::max(even, 0.0), 1 / std::log10(all));
  return all / time;
}

} // namespace diagnosing

/// R-hat: the greater of the rank-normalised split R-hats of the values, and of their distances from the median, which sees scales
/// that differ. 1 where chains agree; over 1.01 they do not.
inline double rhat(chain_values const& x) {
  using namespace diagnosing;
  if (!meaningful(x)) return none;
  chain_values const halves = split(x);
  double const median = quantile(halves.values, 0.5);
  double const bulk = plain_rhat(rank_normalised(halves));
  double const folded =
      plain_rhat(rank_normalised(transformed(halves, [&](double v) { return std::abs(v - median); })));
  return folded > bulk ? folded : bulk;
}

/// The effective sample size of the mean: how many independent draws would estimate it as well.
inline double ess_mean(chain_values const& x) {
  using namespace diagnosing;
  return meaningful(x) ? plain_ess(split(x)) : none;
}

/// The effective sample size of the bulk of the distribution: of rank-normalised values.
inline double ess_bulk(chain_values const& x) {
  using namespace diagnosing;
  return meaningful(x) ? plain_ess(rank_normalised(split(x))) : none;
}

/// The effective sample size of the estimated quantile of a probability, from 0 to 1.
inline double ess_quantile(chain_values const& x, double probability) {
  using namespace diagnosing;
  if (!meaningful(x)) return none;
  double const q = quantile(x.values, probability);
  return plain_ess(split(transformed(x, [&](double v) { return v <= q ? 1.0 : 0.0; })));
}

/// The effective sample size of the tails: the smaller of those of the quantiles of 5 and 95 percent.
inline double ess_tail(chain_values const& x) {
  double const low = ess_quantile(x, 0.05), high = ess_quantile(x, 0.95);
  return low < high || std::isnan(low) ? low : high;
}

/// The effective sample size of the standard deviation: of squared distances from the mean.
inline double ess_sd(chain_values const& x) {
  using namespace diagnosing;
  if (!meaningful(x)) return none;
  double const m = mean(x.values);
  return plain_ess(split(transformed(x, [&](double v) { return (v - m) * (v - m); })));
}

/// The Monte Carlo standard error of the mean.
inline double mcse_mean(chain_values const& x) {
  using namespace diagnosing;
  return meaningful(x) ? std::sqrt(variance(x.values) / ess_mean(x)) : none;
}

/// The Monte Carlo standard error of the standard deviation: that of the second moment, (m4 - m2²) / ESS, by the delta method.
inline double mcse_sd(chain_values const& x) {
  using namespace diagnosing;
  if (!meaningful(x)) return none;
  double const m = mean(x.values);
  double second = 0, fourth = 0;
  for (double const v : x.values) {
    double const square = (v - m) * (v - m);
    second += square;
    fourth += square * square;
  }
  auto const n = static_cast<double>(x.values.size());
  second /= n;
  fourth /= n;
  return std::sqrt((fourth - second * second) / ess_sd(x) / (4 * second));
}

/// The Monte Carlo standard error of the quantile of a probability, between 0 and 1: half the distance of the quantiles at which
/// the probability may be by its own error, to one standard deviation of a beta distribution (section 4.3 there).
inline double mcse_quantile(chain_values const& x, double probability) {
  using namespace diagnosing;
  double const ess = ess_quantile(x, probability);
  if (!std::isfinite(ess)) return none;
  double const a = ess * probability + 1, b = ess * (1 - probability) + 1;
  double const low = boost::math::ibeta_inv(a, b, 0.15865525393145707);
  double const high = boost::math::ibeta_inv(a, b, 0.8413447460685429);
  std::vector<double> sorted = x.values;
  std::ranges::sort(sorted);
  auto const n = static_cast<double>(sorted.size());
  auto const first = static_cast<std::size_t>(std::max(std::floor(low * n), 1.0));
  auto const last = static_cast<std::size_t>(std::min(std::ceil(high * n), n));
  return (sorted[last - 1] - sorted[first - 1]) / 2;
}

/// The energy Bayesian fraction of missing information of one chain, of its energies (Betancourt 2016, "Diagnosing suboptimal
/// cotangent disintegrations in Hamiltonian Monte Carlo"). Below 0.3, momenta move too little between energies: the target has
/// tails that are not explored.
inline double ebfmi(std::span<double const> energies) {
  using namespace diagnosing;
  if (energies.size() < 4) return none;
  double steps = 0;
  for (std::size_t i = 1; i < energies.size(); ++i)
    steps += (energies[i] - energies[i - 1]) * (energies[i] - energies[i - 1]);
  return steps / (variance(energies) * static_cast<double>(energies.size() - 1));
}

} // namespace overdub::inference
