// Functions that several benchmarks share, written for overdub and by hand: loops over numbers and arrays, the objective of a Gaussian
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
#include <string>
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
[[gnu::always_inline]] inline auto plain_sum_of(std::size_t n, Get const& get) {
  decltype(get(n)) sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += get(i);
  return sum;
}

// ---- loops; the hand-written ones are templates, so that ADOL-C's numbers fit

inline constexpr auto rosenbrock = fn<"rosenbrock">([](auto const& x) {
  return overdub::loop(overdub::size(x) - 1, 0.0, [&](auto i, auto sum) {
    auto const a = overdub::at(x, i), b = overdub::at(x, i + 1);
    return sum + 100.0 * (b - a * a) * (b - a * a) + (1.0 - a) * (1.0 - a);
  });
});
template <class T>
[[gnu::noinline]] T rosenbrock_by_hand(std::span<T const> x) {
  T sum = 0;
  for (std::size_t i = 0; i + 1 < x.size(); ++i) {
    T const a = x[i], b = x[i + 1];
    sum = sum + 100.0 * (b - a * a) * (b - a * a) + (1.0 - a) * (1.0 - a);
  }
  return sum;
}

// A damped pendulum, integrated by the explicit Euler method with 1,000 steps.
inline constexpr auto pendulum = fn<"pendulum">([](auto n, auto angle, auto speed, auto friction) {
  auto const end = overdub::loop(n, std::tuple{angle, speed}, [=](auto, auto const& state) {
    auto const& [a, v] = state;
    return std::tuple{a + 0.001 * v, v - 0.001 * (sin(a) + friction * v)};
  });
  return std::get<0>(end);
});
template <class T>
[[gnu::noinline]] T pendulum_by_hand(std::int64_t n, T a, T v, T friction) {
  using std::sin;
  for (std::int64_t i = 0; i < n; ++i) {
    T const next = a + 0.001 * v;
    v = v - 0.001 * (sin(a) + friction * v);
    a = next;
  }
  return a;
}

// A loop with branches that depend on data.
inline constexpr auto branchy = fn<"branchy">([](auto const& x) {
  return overdub::loop(overdub::size(x), 0.0, [&](auto i, auto sum) {
    auto const a = overdub::at(x, i);
    return overdub::if_(
        a > 0.5, [=] { return sum + a * a; },
        [=] {
          return overdub::if_(
              sum > 10.0, [=] { return sum * 0.5 - a; }, [=] { return sum - a / (1.0 + a * a); });
        });
  });
});
template <class T>
[[gnu::noinline]] T branchy_by_hand(std::span<T const> x) {
  T sum = 0;
  for (T const& a : x)
    if (a > 0.5)
      sum = sum + a * a;
    else if (sum > 10.0)
      sum = sum * 0.5 - a;
    else
      sum = sum - a / (1.0 + a * a);
  return sum;
}

// ---- sums over arrays

// The objective of a Gaussian mixture, as in ADBench: k weights, means and inverse factors of covariances, whose diagonals are stored as
// logarithms; n points of d numbers.
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
template <class T, class Sum>
T mixture_by_hand(
    std::size_t d, std::size_t k, std::size_t n, std::span<T const> weights, std::span<T const> means,
    std::span<T const> diagonals, std::span<T const> factors, view points, std::span<T> scales,
    std::span<T> traces, std::span<T> terms, Sum const& sum) {
  using std::exp, std::log;
  std::size_t const below = d * (d - 1) / 2;
  for (std::size_t i = 0; i < k * d; ++i) scales[i] = exp(diagonals[i]);
  for (std::size_t j = 0; j < k; ++j)
    traces[j] = sum(d, [&](std::size_t r) -> T { return diagonals[j * d + r]; });
  return sum(n, [&](std::size_t i) -> T {
    double const* const x = &points[i * d];
    for (std::size_t j = 0; j < k; ++j) {
      T const* const m = &means[j * d];
      T const* const s = &scales[j * d];
      T const distance = sum(d, [&](std::size_t r) -> T {
        T const* const f = &factors[j * below + r * (r - 1) / 2];
        T const tilted = sum(r, [&](std::size_t c) -> T { return f[c] * (x[c] - m[c]); });
        T const y = s[r] * (x[r] - m[r]) + tilted;
        return y * y;
      });
      terms[j] = weights[j] + traces[j] - 0.5 * distance;
    }
    T most = terms[0];
    for (std::size_t j = 1; j < k; ++j)
      if (most < terms[j]) most = terms[j];
    return most + log(sum(k, [&](std::size_t j) -> T { return exp(terms[j] - most); }));
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

// Parameters and points of a mixture.
class mixture_example {
public:
  static constexpr std::size_t d = 10, k = 25;
  std::size_t n;
  std::string name = "the objective of a Gaussian mixture, d = 10, k = 25, n = " + std::to_string(n);
  numbers weights = between(-1, 1, k), means = between(-1, 1, k*d), diagonals = between(-0.5, 0.5, k*d),
          factors = between(-0.2, 0.2, k*d*(d - 1) / 2), points = between(-1, 1, n*d);

  explicit mixture_example(std::size_t points_count = 100) : n(points_count) {}

  // The objective by a program that was staged from `mixture`.
  template <class Run>
  double call(Run& run) const {
    using overdub::i64;
    return run.template call<double>(
        i64{d}, i64{k}, static_cast<i64>(n), weights, means, diagonals, factors, points);
  }
  template <class Sum>
  double by_hand(Sum const& sum) {
    forget_memory();
    return mixture_by_hand<double>(
        opaque(d), opaque(k), opaque(n), weights, means, diagonals, factors, points, scales_, traces_, terms_,
        sum);
  }

private:
  numbers scales_ = numbers(k * d), traces_ = numbers(k), terms_ = numbers(k);
};

} // namespace bench
