// The interpreter. Functions are staged, optimised and run by an instance, each against a hand-written loop with the same arithmetic:
// chains of scalar operations, sums over arrays, the objective of a Gaussian mixture, a logistic likelihood.
#include "models.hpp"
#include "ratio.hpp"

#include <overdub/execute/interpreter.hpp>
#include <overdub/overdub.hpp>
#include <overdub/pass/pipeline.hpp>
#include <overdub/stage/stage.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <tuple>
#include <vector>

namespace {

using overdub::array;
using overdub::i64;

using namespace bench;

template <class... T, class F>
overdub::instance interpreter_of(F const& f) {
  overdub::ir::program p = overdub::stage(f, overdub::signature<T...>);
  overdub::pass::default_pipeline(p);
  return overdub::executable(p).instance();
}

// Checks that the interpreter returns the same bits.
void check(char const* what, double expected, double found) {
  if (std::memcmp(&expected, &found, sizeof found) == 0) return;
  std::printf("MISS: %s: %.17g by hand, %.17g interpreted\n", what, expected, found);
}

// ---- chains: 1,000 operations an iteration, each on the result of the previous one

constexpr i64 iterations = 100;
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

// The same in 8 independent chains.
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
  check("chain", chain_by_hand(iterations, start, a, b), one.call<double>(iterations, start, a, b));
  check("chains", chains_by_hand(iterations, start, a, b), many.call<double>(iterations, start, a, b));
  bench::compare<bench::allocating::forbidden>(
      "a chain of 100,000 scalar operations (4 ns each are 400,000)",
      bench::way{
          "by hand", 0, [&] { return chain_by_hand(bench::opaque(iterations), start, bench::opaque(a), b); }},
      bench::way{"interpreted", 5, [&] { return one.call<double>(iterations, start, a, b); }});
  bench::compare<bench::allocating::forbidden>(
      "8 chains of 12,000 scalar operations",
      bench::way{
          "by hand", 0,
          [&] { return chains_by_hand(bench::opaque(iterations), start, bench::opaque(a), b); }},
      bench::way{"interpreted", 8, [&] { return many.call<double>(iterations, start, a, b); }});
}

// ---- arrays

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

void gaussian_mixture() {
  bench::mixture_example example;
  auto run = interpreter_of<
      i64, i64, i64, array<double>, array<double>, array<double>, array<double>, array<double>>(mixture);
  auto const interpreted = [&] { return example.call(run); };
  check("mixture", example.by_hand(in_lanes), interpreted());
  bench::compare<bench::allocating::forbidden>(
      example.name.c_str(),
      bench::way{"by hand, in the same order", 0, [&] { return example.by_hand(in_lanes); }},
      bench::way{"by hand, in the order of the indices", 0, [&] { return example.by_hand(in_order); }},
      bench::way{"interpreted", 2.5, interpreted});
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
