#include <overdub/core/floating_point.hpp>
#include <overdub/inference/diagnostics.hpp>

#include <boost/math/special_functions/beta.hpp>
#include <boost/math/special_functions/erf.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace overdub::inference {

namespace diagnosing {

int exponent_of(std::span<double const> x) {
  double largest = 0;
  for (double const v : x) largest = std::max(largest, std::abs(v));
  int exponent = 0;
  std::frexp(largest, &exponent);
  return exponent;
}
std::vector<double> divided_by_power(std::span<double const> x, int exponent) {
  std::vector<double> y(x.begin(), x.end());
  for (double& v : y) v = std::ldexp(v, -exponent);
  return y;
}

double mean(std::span<double const> x) {
  auto const n = static_cast<double>(x.size());
  double const sum = std::accumulate(x.begin(), x.end(), 0.0);
  if (!overdub::is_infinite(sum)) return sum / n;
  int const exponent = exponent_of(x);
  std::vector<double> const small = divided_by_power(x, exponent);
  return std::ldexp(std::accumulate(small.begin(), small.end(), 0.0) / n, exponent);
}
double standard_deviation(std::span<double const> x) {
  int const exponent = exponent_of(x);
  return std::ldexp(std::sqrt(variance(divided_by_power(x, exponent))), exponent);
}

// The chains, divided by a power of two.
inline chain_values divided_by_power(chain_values const& x, int exponent) {
  return {divided_by_power(std::span(x.values), exponent), x.chains};
}
inline chain_values of_magnitude_one(chain_values const& x) {
  return divided_by_power(x, exponent_of(x.values));
}

double quantile_of_sorted(std::span<double const> x, double p) {
  double const position = p * static_cast<double>(x.size() - 1);
  auto const below = static_cast<std::size_t>(position);
  std::size_t const above = std::min(below + 1, x.size() - 1);
  double const distance = x[above] - x[below], part = position - static_cast<double>(below);
  if (part == 0 || x[below] == x[above])
    return x[below]; // the interpolation below would be NaN for an infinite distance
  if (overdub::is_infinite(distance)) return (1 - part) * x[below] + part * x[above];
  return x[below] + part * distance;
}

double quantile(std::vector<double> x, double p) {
  std::ranges::sort(x);
  return quantile_of_sorted(x, p);
}

chain_values split(chain_values const& x) {
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

chain_values rank_normalised(chain_values x) {
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

// The chains of f(x) for each value x.
template <class F>
chain_values transformed(chain_values x, F const& f) {
  for (double& v : x.values) v = f(v);
  return x;
}

double plain_rhat(chain_values const& x) {
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

double plain_ess(chain_values const& x) {
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

  double sum = 0; // of the pairs of autocorrelations, made monotone (Geyer 1992)
  double even = 1, odd = correlation(1), minimum = std::numeric_limits<double>::infinity();
  for (std::size_t lag = 0; even + odd > 0 && lag + 5 < n;) {
    minimum = std::min(minimum, even + odd);
    sum += minimum;
    lag += 2;
    even = correlation(lag);
    odd = correlation(lag + 1);
  }
  // The first element of the first pair that is left out reduces the bias of the truncation.
  double const time = std::max(-1 + 2 * sum + std::max(even, 0.0), 1 / std::log10(all));
  return all / time;
}

} // namespace diagnosing

double rhat(chain_values const& x) {
  using namespace diagnosing;
  if (!meaningful(x)) return none;
  chain_values const halves = split(of_magnitude_one(x));
  double const median = quantile(halves.values, 0.5);
  double const bulk = plain_rhat(rank_normalised(halves));
  double const folded =
      plain_rhat(rank_normalised(transformed(halves, [&](double v) { return std::abs(v - median); })));
  return folded > bulk ? folded : bulk;
}

double ess_mean(chain_values const& x) {
  using namespace diagnosing;
  return meaningful(x) ? plain_ess(split(of_magnitude_one(x))) : none;
}

double ess_bulk(chain_values const& x) {
  using namespace diagnosing;
  return meaningful(x) ? plain_ess(rank_normalised(split(x))) : none;
}

double ess_quantile(chain_values const& x, double probability) {
  using namespace diagnosing;
  if (!meaningful(x)) return none;
  double const q = quantile(x.values, probability);
  return plain_ess(split(transformed(x, [&](double v) { return v <= q ? 1.0 : 0.0; })));
}

double ess_tail(chain_values const& x) {
  double const low = ess_quantile(x, 0.05), high = ess_quantile(x, 0.95);
  return low < high || overdub::is_nan(low) ? low : high;
}

double ess_sd(chain_values const& x) {
  using namespace diagnosing;
  if (!meaningful(x)) return none;
  chain_values const of_one = of_magnitude_one(x);
  double const m = mean(of_one.values);
  return plain_ess(split(transformed(of_one, [&](double v) { return (v - m) * (v - m); })));
}

double mcse_mean(chain_values const& x) {
  using namespace diagnosing;
  return meaningful(x) ? standard_deviation(x.values) / std::sqrt(ess_mean(x)) : none;
}

double mcse_sd(chain_values const& x) {
  using namespace diagnosing;
  if (!meaningful(x)) return none;
  int const exponent = exponent_of(x.values);
  std::vector<double> const values = divided_by_power(x.values, exponent);
  double const m = mean(values);
  double second = 0, fourth = 0;
  for (double const v : values) {
    double const square = (v - m) * (v - m);
    second += square;
    fourth += square * square;
  }
  auto const n = static_cast<double>(x.values.size());
  second /= n;
  fourth /= n;
  return std::ldexp(std::sqrt((fourth - second * second) / ess_sd(x) / (4 * second)), exponent);
}

double mcse_quantile(chain_values const& x, double probability) {
  using namespace diagnosing;
  double const ess = ess_quantile(x, probability);
  if (!overdub::is_finite(ess)) return none;
  double const a = ess * probability + 1, b = ess * (1 - probability) + 1;
  double const low = boost::math::ibeta_inv(a, b, 0.15865525393145707);
  double const high = boost::math::ibeta_inv(a, b, 0.8413447460685429);
  std::vector<double> sorted = x.values;
  std::ranges::sort(sorted);
  auto const n = static_cast<double>(sorted.size());
  auto const first = static_cast<std::size_t>(std::max(std::floor(low * n), 1.0));
  auto const last = static_cast<std::size_t>(std::min(std::ceil(high * n), n));
  return sorted[last - 1] / 2 - sorted[first - 1] / 2;
}

double ebfmi(std::span<double const> given) {
  using namespace diagnosing;
  if (given.size() < 4) return none;
  std::vector<double> const energies = divided_by_power(given, exponent_of(given));
  double steps = 0;
  for (std::size_t i = 1; i < energies.size(); ++i)
    steps += (energies[i] - energies[i - 1]) * (energies[i] - energies[i - 1]);
  return steps / (variance(energies) * static_cast<double>(energies.size() - 1));
}

} // namespace overdub::inference
