// Machine code. Functions are staged, optimised, compiled and run, each against the same function by the host's compiler (at -O3
// -march=native -ffp-contract=off): loops over numbers and arrays, the objective of a Gaussian mixture, a logistic likelihood, a call of a
// handle. Also the time of compilation, and of loading a compiled function from disk.
#include "models.hpp"
#include "ratio.hpp"

#include <overdub/contexts/forward.hpp>
#include <overdub/derivative.hpp>
#include <overdub/jit/jit.hpp>
#include <overdub/pass/pipeline.hpp>
#include <overdub/stage/stage.hpp>

#include <chrono>
#include <cstring>
#include <stdlib.h>
#include <string>
#include <tuple>
#include <unistd.h>

namespace {

using namespace bench;
using overdub::array;
using overdub::i64;

template <class... T, class F>
overdub::executable compiled(F const& f) {
  overdub::ir::program p = overdub::stage(f, overdub::signature<T...>);
  overdub::pass::default_pipeline(p);
  return overdub::jit::compile(p);
}

// Checks that machine code returns the same bits.
void check(char const* what, double expected, double found) {
  if (std::memcmp(&expected, &found, sizeof found) == 0) return;
  std::printf("MISS: %s: %.17g by hand, %.17g compiled\n", what, expected, found);
}

// ---- loops

inline constexpr auto rosenbrock_sum = fn<"rosenbrock_sum">([](auto const& x) {
  return overdub::sum(overdub::tabulate(overdub::size(x) - 1, [&](auto i) {
    auto const a = overdub::at(x, i), b = overdub::at(x, i + 1);
    return 100.0 * (b - a * a) * (b - a * a) + (1.0 - a) * (1.0 - a);
  }));
});

// In place, each element computed from the previous one.
inline constexpr auto running = fn<"running">([](auto n, auto start) {
  auto const all = overdub::loop(n, overdub::fill(n, start), [](auto i, auto const& x) {
    auto const before = overdub::at(x, overdub::max(i - 1, i - i));
    return overdub::update(x, i, before * 0.99 + 1.0);
  });
  return overdub::at(all, n - 1);
});
[[gnu::noinline]] double running_by_hand(i64 n, double start, numbers& x) {
  for (double& each : x) each = start;
  for (i64 i = 0; i < n; ++i)
    x[static_cast<std::size_t>(i)] = x[static_cast<std::size_t>(std::max<i64>(i - 1, 0))] * 0.99 + 1.0;
  return x[static_cast<std::size_t>(n - 1)];
}

void loops() {
  numbers const x = between(-1, 1, 10'000);
  view const xs = x;
  auto const code = compiled<array<double>>(rosenbrock);
  auto run = code.instance();
  auto const by_hand = [&] {
    forget_memory();
    return rosenbrock_by_hand(xs);
  };
  check("rosenbrock", by_hand(), run.call<double>(xs));
  compare<allocating::forbidden>(
      "rosenbrock of 10,000 numbers", way{"by hand", 0, by_hand},
      way{"compiled", 1.05, [&] { return run.call<double>(xs); }});

  auto const sum_code = compiled<array<double>>(rosenbrock_sum);
  auto run_sum = sum_code.instance();
  auto const sum_by_hand = [&] {
    forget_memory();
    return sum_of(xs.size() - 1, [&](std::size_t i) {
      double const a = xs[i], b = xs[i + 1];
      return 100.0 * (b - a * a) * (b - a * a) + (1.0 - a) * (1.0 - a);
    });
  };
  check("rosenbrock, a sum", sum_by_hand(), run_sum.call<double>(xs));
  compare<allocating::forbidden>(
      "rosenbrock of 10,000 numbers, as a sum", way{"by hand, in the same order", 0, sum_by_hand},
      way{"compiled", 1.05, [&] { return run_sum.call<double>(xs); }});

  overdub::jit::function<double(i64, double, double, double)> const swing(
      compiled<i64, double, double, double>(pendulum));
  check("pendulum", pendulum_by_hand(1000, 1.0, 0.5, 0.1), swing(1000, 1.0, 0.5, 0.1));
  compare<allocating::forbidden>(
      "a damped pendulum, 1,000 steps",
      way{"by hand", 0, [&] { return pendulum_by_hand(opaque(i64{1000}), opaque(1.0), 0.5, opaque(0.1)); }},
      way{"compiled", 1.05, [&] { return swing(opaque(i64{1000}), opaque(1.0), 0.5, opaque(0.1)); }});

  auto const branchy_code = compiled<array<double>>(branchy);
  auto run_branchy = branchy_code.instance();
  auto const branchy_hand = [&] {
    forget_memory();
    return branchy_by_hand(xs);
  };
  check("branches", branchy_hand(), run_branchy.call<double>(xs));
  compare<allocating::forbidden>(
      "a loop with branches, 10,000 numbers", way{"by hand", 0, branchy_hand},
      way{"compiled", 1.05, [&] { return run_branchy.call<double>(xs); }});

  auto run_running = compiled<i64, double>(running).instance();
  numbers place(10'000);
  check("running", running_by_hand(10'000, 0.5, place), run_running.call<double>(i64{10'000}, 0.5));
  compare<allocating::forbidden>(
      "10,000 elements, each from the one before, in place",
      way{"by hand", 0, [&] { return running_by_hand(10'000, opaque(0.5), place); }},
      way{"compiled", 1.05, [&] { return run_running.call<double>(i64{10'000}, opaque(0.5)); }});
}

// ---- sums over arrays

void gaussian_mixture() {
  mixture_example example;
  auto run =
      compiled<i64, i64, i64, array<double>, array<double>, array<double>, array<double>, array<double>>(
          mixture)
          .instance();
  auto const all = [&] { return example.call(run); };
  check("mixture", example.by_hand(in_lanes), all());
  compare<allocating::forbidden>(
      example.name.c_str(), way{"by hand, in the same order", 0, [&] { return example.by_hand(in_lanes); }},
      way{"by hand, in the order of the indices", 0, [&] { return example.by_hand(in_order); }},
      way{"compiled", 1.05, all});
}

void logistic_likelihood() {
  constexpr std::size_t n = 10'000, d = 10;
  numbers const points = between(-1, 1, n * d), weights = between(-1, 1, d);
  numbers labels = between(0, 1, n);
  for (double& y : labels) y = y < 0.5 ? 0 : 1;
  auto run = compiled<array<double>, array<double>, array<double>>(logistic).instance();
  auto const by_hand = [&](auto const& sum) {
    forget_memory();
    return logistic_by_hand(points, labels, weights, sum);
  };
  auto const all = [&] { return run.call<double>(points, labels, weights); };
  check("logistic", by_hand(in_lanes), all());
  compare<allocating::forbidden>(
      "the logarithm of a logistic likelihood, 10,000 x 10",
      way{"by hand, in the same order", 0, [&] { return by_hand(in_lanes); }},
      way{"by hand, in the order of the indices", 0, [&] { return by_hand(in_order); }},
      way{"compiled", 1.05, all});
}

// ---- calls

inline constexpr auto slope_of_shifted_sine =
    fn<"slope">([](auto x) { return overdub::derivative([](auto y) { return sin(y + 1.0); }, x); });
double slope_by_hand(double x) { return std::cos(x + 1.0); }

void handles() {
  overdub::jit::function<double(double)> const slope(compiled<double>(slope_of_shifted_sine));
  check("slope", slope_by_hand(0.5), slope(0.5));
  double (*const pointer)(double) = opaque(&slope_by_hand);
  compare<allocating::forbidden>(
      "the derivative of sin(x + 1), through a pointer",
      way{"by hand", 0, [=] { return opaque(pointer)(opaque(0.7)); }},
      way{"compiled", 1.15, [&] { return slope(opaque(0.7)); }});
}

// ---- compiling

double milliseconds(auto const& f) {
  double best = 1e300;
  for (int round = 0; round < 5; ++round) {
    auto const start = std::chrono::steady_clock::now();
    f();
    best = std::min(
        best, std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}
// A function with the given number of operations, each of which uses earlier results.
overdub::ir::program chain_of(int operations) {
  using namespace overdub;
  ir::program p;
  ir::type const parameters[] = {ir::f64, ir::f64};
  ir::function_id const f = p.add("chain", parameters);
  p[f].results = {ir::f64};
  p.entry = f;
  ir::cursor c(p, f);
  ir::value_id last = c->parameters()[0], before = c->parameters()[1];
  static constexpr ir::op codes[] = {ir::op::add, ir::op::mul, ir::op::sub, ir::op::max};
  for (int k = 0; k < operations; ++k) last = c.add(codes[k % 4], last, std::exchange(before, last));
  c.yield(std::array{last});
  return p;
}
void from_disk() {
  std::string folder = "/tmp/overdub-bench-XXXXXX";
  if (mkdtemp(folder.data()) == nullptr) return;
  {
    overdub::jit::options const kept{.cache = std::make_shared<overdub::jit::disk_cache>(folder)};
    auto const p = chain_of(20);
    (void)overdub::jit::compile(p, {}, kept);
    double const taken = milliseconds([&] { (void)overdub::jit::compile(p, {}, kept); });
    std::printf("  from disk, 20 %6.3f ms   goal 0.30 ms  %s\n", taken, taken > 0.3 ? "MISS" : "pass");
    kept.cache->clear();
  }
  rmdir(folder.c_str());
}
void compiling() {
  std::printf("compiling a function of so many operations\n");
  for (int const n : {20, 100, 1000, 10'000, 100'000}) {
    auto const p = chain_of(n);
    double const taken = milliseconds([&] { (void)overdub::jit::compile(p); });
    std::printf("  %-7d %10.2f ms %10.2f us an operation", n, taken, taken * 1e3 / n);
    if (n == 20) std::printf("   goal 3.00 ms  %s", taken > 3 ? "MISS" : "pass");
    std::printf("\n");
    std::fflush(stdout);
    if (taken > 20'000) break;
  }
  from_disk();
}

} // namespace

int main() {
  handles();
  loops();
  gaussian_mixture();
  logistic_likelihood();
  compiling();
}
