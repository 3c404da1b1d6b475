// Shared by tests of inference over models: the executor of models, several models, and the comparison of draws with a known posterior.
#pragma once

#include "catch.hpp"

#include <overdub/distributions.hpp>
#include <overdub/inference/summary.hpp>
#include <overdub/models/model.hpp>
#include <overdub/overdub.hpp>
#if OVERDUB_TESTS_JIT
#include <overdub/jit/executor.hpp>
#endif

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

namespace model_posteriors {

namespace od = overdub;
namespace ds = overdub::distributions;
namespace inf = overdub::inference;
namespace ms = overdub::models;
using od::i64;
using vec = od::array<double>;
using indices = od::array<i64>;
using matrix = od::array<vec>;

/// Machine code, if it is available: it computes the same bits, faster.
inline od::compile_options const& fast() {
#if OVERDUB_TESTS_JIT
  static od::compile_options const o{.executor = od::jit::compiled(), .tiers = od::tiers::compile_now};
#else
  static od::compile_options const o;
#endif
  return o;
}

// ---- models

/// A mixture: each point is of one of the components.
inline constexpr auto mixture = od::fn<"mixture">([](od::scope auto& cx, auto weights, auto centres, auto n) {
  auto const mu = od::map([&](auto c) { return cx(od::sample<"mu">, ds::normal(c, 1)); }, centres);
  return od::sum(cx(od::tabulate, n, [&](auto) {
    auto const z = cx(od::sample<"z">, ds::categorical(weights));
    return cx(od::sample<"y">, ds::normal(mu[z], 0.8));
  }));
});

/// Effects of schools from a common distribution, not centred.
inline constexpr auto eight_schools_noncentred =
    od::fn<"eight_schools_noncentred">([](od::scope auto& cx, auto errors_of) {
      auto const mu = cx(od::sample<"mu">, ds::normal(0, 5));
      auto const tau = cx(od::sample<"tau">, ds::truncated_below(ds::cauchy(0, 5), 0));
      return od::sum(od::map(
          [&](auto error) {
            auto const z = cx(od::sample<"z">, ds::normal(0, 1));
            return cx(od::sample<"y">, ds::normal(mu + tau * z, error));
          },
          errors_of));
    });

/// A hidden Markov model. The state before the first is 0.
inline constexpr auto hidden = od::fn<"hidden">([](od::scope auto& cx, auto rows, auto means, auto n) {
  return od::loop(n, cx.lift(i64{0}), [&](auto, auto before) {
    auto const z = cx(od::sample<"z">, ds::categorical(rows[before]));
    (void)cx(od::sample<"y">, ds::normal(means[z], 1));
    return z;
  });
});
/// The log evidence, and the marginal probabilities of states, by the forward-backward algorithm.
struct smoothed {
  double log_evidence = 0;
  std::vector<std::vector<double>> states;
};
inline smoothed
forward_backward(matrix const& rows, std::vector<double> const& means, std::vector<double> const& y) {
  std::size_t const k = means.size(), n = y.size();
  auto const row = [&](std::size_t i, std::size_t j) {
    return rows[static_cast<i64>(i)][static_cast<i64>(j)];
  };
  auto const seen = [&](std::size_t t, std::size_t j) {
    return std::exp(-0.5 * (y[t] - means[j]) * (y[t] - means[j])) / std::sqrt(2 * std::numbers::pi);
  };
  std::vector<std::vector<double>> forward(n, std::vector<double>(k)), backward = forward;
  for (std::size_t t = 0; t < n; ++t)
    for (std::size_t j = 0; j < k; ++j) {
      double reached = t == 0 ? row(0, j) : 0;
      if (t > 0)
        for (std::size_t i = 0; i < k; ++i) reached += forward[t - 1][i] * row(i, j);
      forward[t][j] = reached * seen(t, j);
    }
  for (std::size_t t = n; t-- > 0;)
    for (std::size_t i = 0; i < k; ++i) {
      backward[t][i] = t + 1 == n;
      if (t + 1 < n)
        for (std::size_t j = 0; j < k; ++j) backward[t][i] += row(i, j) * seen(t + 1, j) * backward[t + 1][j];
    }
  smoothed result{.states = forward};
  double evidence = 0;
  for (double const f : forward.back()) evidence += f;
  result.log_evidence = std::log(evidence);
  for (std::size_t t = 0; t < n; ++t)
    for (std::size_t j = 0; j < k; ++j) result.states[t][j] *= backward[t][j] / evidence;
  return result;
}

// ---- known posteriors

/// Of one number.
struct known {
  double mean, sd, q5, q95;
};

/// A mixture of normal distributions with unnormalised weights: a marginal posterior where the other parameters are integrated out in
/// closed form.
class normal_mixture {
public:
  void add(double weight, double mean, double sd) {
    all_.push_back({weight, mean, sd});
    total_ += weight;
  }
  known moments() const {
    double mean = 0, square = 0;
    for (part const& p : all_) {
      mean += p.weight / total_ * p.mean;
      square += p.weight / total_ * (p.mean * p.mean + p.sd * p.sd);
    }
    double const sd = std::sqrt(square - mean * mean);
    auto const quantile = [&](double probability) {
      double low = mean - 20 * sd, high = mean + 20 * sd;
      for (int i = 0; i < 60; ++i) {
        double const middle = 0.5 * (low + high);
        (below(middle) < probability ? low : high) = middle;
      }
      return low;
    };
    return {mean, sd, quantile(0.05), quantile(0.95)};
  }

private:
  struct part {
    double weight, mean, sd;
  };
  double below(double x) const {
    double sum = 0;
    for (part const& p : all_)
      sum += p.weight / total_ * 0.5 * std::erfc((p.mean - x) / (p.sd * std::numbers::sqrt2));
    return sum;
  }

  std::vector<part> all_;
  double total_ = 0;
};

/// An unnormalised density on a uniform grid. The error of the midpoint rule is below 1e-4 where it is used.
inline known moments_on_grid(std::vector<double> const& x, std::vector<double> const& density) {
  double total = 0, mean = 0, square = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    total += density[i];
    mean += density[i] * x[i];
    square += density[i] * x[i] * x[i];
  }
  mean /= total;
  auto const quantile = [&](double probability) {
    double sum = 0;
    std::size_t i = 0;
    while (sum < probability * total) sum += density[i++];
    return x[i - 1];
  };
  return {mean, std::sqrt(square / total - mean * mean), quantile(0.05), quantile(0.95)};
}

/// The tolerance of a mean of draws: 4.5 Monte Carlo standard errors, which 1 check of 150,000 exceeds by chance.
inline constexpr double errors = 4.5;

/// Whether draws of a variable have these moments and quantiles, each within its Monte Carlo error.
inline void check_draws(inf::draws const& d, std::string const& name, known const& r) {
  inf::chain_values const x = d.column(name);
  inf::summary const s(d);
  auto const& row = s[name];
  INFO(
      name << ": mean " << row.mean << " sd " << row.sd << " q5 " << row.q5 << " q95 " << row.q95 << " rhat "
           << row.rhat << " ess " << row.ess_bulk);
  CHECK(row.rhat < 1.02);
  CHECK(std::abs(row.mean - r.mean) <= errors * row.mcse);
  CHECK(std::abs(row.sd - r.sd) <= errors * inf::mcse_sd(x));
  CHECK(std::abs(row.q5 - r.q5) <= errors * inf::mcse_quantile(x, 0.05));
  CHECK(std::abs(row.q95 - r.q95) <= errors * inf::mcse_quantile(x, 0.95));
}

/// Checks the frequency of a value in draws.
inline void check_frequency(inf::draws const& d, std::string const& name, double value, double probability) {
  inf::chain_values x = d.column(name);
  for (double& v : x.values) v = v == value;
  double const mean = inf::diagnosing::mean(x.values);
  // The Monte Carlo error of a constant is not defined: use that of independent draws.
  double const error =
      inf::diagnosing::varies(x)
          ? inf::mcse_mean(x)
          : std::sqrt(probability * (1 - probability) / static_cast<double>(x.values.size()));
  INFO(name << " = " << value << ": " << mean << " +- " << error << " of " << probability);
  CHECK(std::abs(mean - probability) <= errors * error + 1e-12);
}

} // namespace model_posteriors
