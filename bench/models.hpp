// Functions that several benchmarks run, as overdub has them and as one would write them by hand: the objective of a Gaussian
// mixture, a logistic likelihood.
#pragma once

#include "ratio.hpp"

#include <overdub/overdub.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bench {

using overdub::fn;
using numbers = std::vector<double>;
using view = std::span<double const>;

inline numbers between(double low, double high, std::size_t n) {
  numbers v(n);
  std::uint64_t state = n;
  for (double& x : v) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    x = low + (high - low) * (static_cast<double>(state >> 11) * 0x1p-53);
  }
  return v;
}

// get(0) + ... + get(n - 1), in the order of overdub::sum.
template <class Get>
[[gnu::always_inline]] inline double sum_of(std::size_t n, Get const& get) {
  if (n == 0) return 0;
  std::array<double, 8> lane{};
  for (std::size_t j = 0; j < std::min<std::size_t>(n, 8); ++j) lane[j] = get(j);
  std::size_t i = 8;
  for (; i + 8 <= n; i += 8)
    for (std::size_t j = 0; j < 8; ++j) lane[j] += get(i + j);
  for (; i < n; ++i) lane[i % 8] += get(i);
  return 0 + (((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7])));
}
// The same in the order of the indices.
template <class Get>
[[gnu::always_inline]] inline double plain_sum_of(std::size_t n, Get const& get) {
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += get(i);
  return sum;
}

// The objective of a Gaussian mixture, as ADBench has it: k weights, means and inverse factors of covariances, whose
// diagonals are logarithms, n points of d numbers.
inline constexpr auto mixture = fn<"mixture">(
    [](auto d, auto k, auto n, auto weights, auto means, auto diagonals, auto factors, auto points) {
      using overdub::sum, overdub::tabulate;
      auto const scales = overdub::map([](auto x) { return exp(x); }, diagonals);
      auto const traces =
          tabulate(k, [=](auto j) { return sum(tabulate(d, [=](auto r) { return diagonals[j * d + r]; })); });
      auto const below = d * (d - 1) / 2;
      auto const likelihoods = tabulate(n, [=](auto i) {
        auto const terms = tabulate(k, [=](auto j) {
          auto const distance = sum(tabulate(d, [=](auto r) {
            auto const tilted = sum(tabulate(r, [=](auto c) {
              return factors[j * below + r * (r - 1) / 2 + c] * (points[i * d + c] - means[j * d + c]);
            }));
            auto const y = scales[j * d + r] * (points[i * d + r] - means[j * d + r]) + tilted;
            return y * y;
          }));
          return weights[j] + traces[j] - 0.5 * distance;
        });
        auto const most = overdub::reduce(overdub::max, terms);
        return most + log(sum(overdub::map([=](auto t) { return exp(t - most); }, terms)));
      });
      return sum(likelihoods);
    });
template <class Sum>
double mixture_by_hand(
    std::size_t d, std::size_t k, std::size_t n, view weights, view means, view diagonals, view factors,
    view points, numbers& scales, numbers& traces, numbers& terms, Sum const& sum) {
  std::size_t const below = d * (d - 1) / 2;
  for (std::size_t i = 0; i < k * d; ++i) scales[i] = std::exp(diagonals[i]);
  for (std::size_t j = 0; j < k; ++j) traces[j] = sum(d, [&](std::size_t r) { return diagonals[j * d + r]; });
  return sum(n, [&](std::size_t i) {
    double const* const x = &points[i * d];
    for (std::size_t j = 0; j < k; ++j) {
      double const* const m = &means[j * d];
      double const* const s = &scales[j * d];
      double const distance = sum(d, [&](std::size_t r) {
        double const* const f = &factors[j * below + r * (r - 1) / 2];
        double const tilted = sum(r, [&](std::size_t c) { return f[c] * (x[c] - m[c]); });
        double const y = s[r] * (x[r] - m[r]) + tilted;
        return y * y;
      });
      terms[j] = weights[j] + traces[j] - 0.5 * distance;
    }
    double most = terms[0];
    for (std::size_t j = 1; j < k; ++j) most = most < terms[j] ? terms[j] : most;
    return most + std::log(sum(k, [&](std::size_t j) { return std::exp(terms[j] - most); }));
  });
}
inline constexpr auto logistic = fn<"logistic">([](auto points, auto labels, auto weights) {
  using overdub::sum, overdub::tabulate;
  auto const d = overdub::size(weights);
  return sum(tabulate(overdub::size(labels), [=](auto i) {
    auto const z = sum(tabulate(d, [=](auto j) { return points[i * d + j] * weights[j]; }));
    return labels[i] * z - log1p(exp(z));
  }));
});
template <class Sum>
double logistic_by_hand(view points, view labels, view weights, Sum const& sum) {
  std::size_t const d = weights.size();
  return sum(labels.size(), [&](std::size_t i) {
    double const z = sum(d, [&](std::size_t j) { return points[i * d + j] * weights[j]; });
    return labels[i] * z - std::log1p(std::exp(z));
  });
}
inline constexpr auto in_lanes = [](std::size_t n, auto const& get) { return sum_of(n, get); };
inline constexpr auto in_order = [](std::size_t n, auto const& get) { return plain_sum_of(n, get); };

// An example of the mixture: parameters and points.
class mixture_example {
public:
  static constexpr char const* name = "the objective of a Gaussian mixture, d = 10, k = 25, n = 100";

  // By a program that `mixture` was made.
  template <class Run>
  double call(Run& run) const {
    using overdub::i64;
    return run.template call<double>(i64{d}, i64{k}, i64{n}, weights_, means_, diagonals_, factors_, points_);
  }
  template <class Sum>
  double by_hand(Sum const& sum) {
    return mixture_by_hand(
        opaque(d), opaque(k), opaque(n), weights_, means_, diagonals_, factors_, points_, scales_, traces_,
        terms_, sum);
  }

private:
  static constexpr std::size_t d = 10, k = 25, n = 100;
  numbers weights_ = between(-1, 1, k), means_ = between(-1, 1, k*d), diagonals_ = between(-0.5, 0.5, k*d),
          factors_ = between(-0.2, 0.2, k*d*(d - 1) / 2), points_ = between(-1, 1, n*d);
  numbers scales_ = numbers(k * d), traces_ = numbers(k), terms_ = numbers(k);
};

} // namespace bench
