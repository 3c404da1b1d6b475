// What does it cost to interpret a program? Functions are staged, optimised, and run by an instance, each against the loop
// that one would write by hand with the same arithmetic: chains of scalar operations, sums over arrays, the objective of a
// Gaussian mixture, a logistic likelihood.
#include "ratio.hpp"

#include <overdub/execute/interpreter.hpp>
#include <overdub/overdub.hpp>
#include <overdub/pass/pipeline.hpp>
#include <overdub/stage/stage.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <tuple>
#include <vector>

namespace {

using overdub::array;
using overdub::fn;
using overdub::i64;

using numbers = std::vector<double>;
using view = std::span<double const>;

numbers between(double low, double high, std::size_t n) {
  numbers v(n);
  std::uint64_t state = n;
  for (double& x : v) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    x = low + (high - low) * (static_cast<double>(state >> 11) * 0x1p-53);
  }
  return v;
}

template <class... T, class F>
overdub::instance interpreter_of(F const& f) {
  overdub::ir::program p = overdub::stage(f, overdub::signature<T...>);
  overdub::pass::default_pipeline(p);
  return overdub::executable(p).instance();
}

// The interpreter gives the same bits.
void check(char const* what, double expected, double found) {
  if (std::memcmp(&expected, &found, sizeof found) == 0) return;
  std::printf("MISS: %s: %.17g by hand, %.17g interpreted\n", what, expected, found);
}

// ---- chains: 1,000 operations a turn, each on the result of the one before

constexpr i64 turns = 100;
constexpr int steps = 125;

template <class X, class Y>
[[gnu::always_inline]] inline X eight_operations(X x, Y a, Y b) {
  x = x * a;
  x = x + b;
  x = x - a;
  x = x * b;
  x = b - x;
  x = x + a;
  x = x * a;
  return x - b;
}
inline constexpr auto chain = fn<"chain">([](auto n, auto start, auto a, auto b) {
  return overdub::loop(n, start, [=](auto, auto x) {
    for (int k = 0; k < steps; ++k) x = eight_operations(x, a, b);
    return x;
  });
});
double chain_by_hand(i64 n, double x, double a, double b) {
  for (i64 i = 0; i < n; ++i)
    for (int k = 0; k < steps; ++k) x = eight_operations(x, a, b);
  return x;
}

// The same in 8 chains, which do not depend on each other.
inline constexpr auto chains = fn<"chains">([](auto n, auto start, auto a, auto b) {
  auto const all = overdub::loop(
      n, std::tuple{start, start + 1, start + 2, start + 3, start + 4, start + 5, start + 6, start + 7},
      [=](auto, auto const& state) {
        return std::apply(
            [=](auto... x) {
              for (int k = 0; k < steps / 8; ++k) ((x = eight_operations(x, a, b)), ...);
              return std::tuple{x...};
            },
            state);
      });
  return std::apply([](auto... x) { return (x + ...); }, all);
});
double chains_by_hand(i64 n, double start, double a, double b) {
  double x[8];
  for (int j = 0; j < 8; ++j) x[j] = j == 0 ? start : start + j;
  for (i64 i = 0; i < n; ++i)
    for (int k = 0; k < steps / 8; ++k)
      for (double& each : x) each = eight_operations(each, a, b);
  return x[0] + (x[1] + (x[2] + (x[3] + (x[4] + (x[5] + (x[6] + x[7]))))));
}

void scalars() {
  double const start = 0.5, a = 0.75, b = -0.375;
  auto one = interpreter_of<i64, double, double, double>(chain);
  auto many = interpreter_of<i64, double, double, double>(chains);
  check("chain", chain_by_hand(turns, start, a, b), one.call<double>(turns, start, a, b));
  check("chains", chains_by_hand(turns, start, a, b), many.call<double>(turns, start, a, b));
  bench::compare<bench::allocating::forbidden>(
      "a chain of 100,000 scalar operations (4 ns each are 400,000)",
      bench::way{
          "by hand", 0, [&] { return chain_by_hand(bench::opaque(turns), start, bench::opaque(a), b); }},
      bench::way{"interpreted", 5, [&] { return one.call<double>(turns, start, a, b); }});
  bench::compare<bench::allocating::forbidden>(
      "8 chains of 12,000 scalar operations",
      bench::way{
          "by hand", 0, [&] { return chains_by_hand(bench::opaque(turns), start, bench::opaque(a), b); }},
      bench::way{"interpreted", 8, [&] { return many.call<double>(turns, start, a, b); }});
}

// ---- arrays

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

inline constexpr auto sum_of_squares = fn<"sum_of_squares">(
    [](auto xs) { return overdub::sum(overdub::map([](auto x) { return x * x; }, xs)); });

void squares() {
  numbers const x = between(-1, 1, 10'000);
  view const xs = x;
  auto run = interpreter_of<array<double>>(sum_of_squares);
  auto const by_hand = [&] {
    view const v = bench::opaque(xs.size()) == 0 ? view{} : xs;
    return sum_of(v.size(), [&](std::size_t i) { return v[i] * v[i]; });
  };
  check("sum of squares", by_hand(), run.call<double>(xs));
  bench::compare<bench::allocating::forbidden>(
      "the sum of 10,000 squares", bench::way{"by hand, in the same order", 0, by_hand},
      bench::way{
          "by hand, in the order of the indices", 0,
          [&] {
            bench::forget_memory();
            return plain_sum_of(xs.size(), [&](std::size_t i) { return xs[i] * xs[i]; });
          }},
      bench::way{"interpreted", 2.5, [&] { return run.call<double>(xs); }});
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
constexpr auto in_lanes = [](std::size_t n, auto const& get) { return sum_of(n, get); };
constexpr auto in_order = [](std::size_t n, auto const& get) { return plain_sum_of(n, get); };

void gaussian_mixture() {
  constexpr std::size_t d = 10, k = 25, n = 100;
  numbers const weights = between(-1, 1, k), means = between(-1, 1, k * d),
                diagonals = between(-0.5, 0.5, k * d), factors = between(-0.2, 0.2, k * d * (d - 1) / 2),
                points = between(-1, 1, n * d);
  numbers scales(k * d), traces(k), terms(k);
  auto run = interpreter_of<
      i64, i64, i64, array<double>, array<double>, array<double>, array<double>, array<double>>(mixture);
  auto const by_hand = [&](auto const& sum) {
    return mixture_by_hand(
        bench::opaque(d), bench::opaque(k), bench::opaque(n), weights, means, diagonals, factors, points,
        scales, traces, terms, sum);
  };
  auto const interpreted = [&] {
    return run.call<double>(i64{d}, i64{k}, i64{n}, weights, means, diagonals, factors, points);
  };
  check("mixture", by_hand(in_lanes), interpreted());
  bench::compare<bench::allocating::forbidden>(
      "the objective of a Gaussian mixture, d = 10, k = 25, n = 100",
      bench::way{"by hand, in the same order", 0, [&] { return by_hand(in_lanes); }},
      bench::way{"by hand, in the order of the indices", 0, [&] { return by_hand(in_order); }},
      bench::way{"interpreted", 2.5, interpreted});
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
void logistic_likelihood() {
  constexpr std::size_t n = 10'000, d = 10;
  numbers const points = between(-1, 1, n * d), weights = between(-1, 1, d);
  numbers labels = between(0, 1, n);
  for (double& y : labels) y = y < 0.5 ? 0 : 1;
  auto run = interpreter_of<array<double>, array<double>, array<double>>(logistic);
  auto const by_hand = [&](auto const& sum) {
    bench::forget_memory();
    return logistic_by_hand(points, labels, weights, sum);
  };
  auto const interpreted = [&] { return run.call<double>(points, labels, weights); };
  check("logistic", by_hand(in_lanes), interpreted());
  bench::compare<bench::allocating::forbidden>(
      "the logarithm of a logistic likelihood, 10,000 x 10",
      bench::way{"by hand, in the same order", 0, [&] { return by_hand(in_lanes); }},
      bench::way{"by hand, in the order of the indices", 0, [&] { return by_hand(in_order); }},
      bench::way{"interpreted", 2.5, interpreted});
}

} // namespace

int main() {
  scalars();
  squares();
  gaussian_mixture();
  logistic_likelihood();
}
