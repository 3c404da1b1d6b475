// Reverse-mode gradients of loops over numbers and arrays and of the objective of a Gaussian mixture, compiled and interpreted, against
// the function by the host's compiler (at -O3 -march=native -ffp-contract=off), and against hand-written gradients. Also the time of the
// first gradient, with an empty cache.
#include "adjoints.hpp"
#include "gradient.hpp"
#include "models.hpp"
#include "ratio.hpp"

#include <ctime>
#include <string>
#include <tuple>

namespace {

using namespace bench;

// ---- gradients

inline constexpr auto pendulum_gradient = value_and_gradient<1, 2, 3>(pendulum);

void swing() {
  auto const compiled = machine_code<i64, double, double, double>(pendulum_gradient);
  auto const in_interpreter = interpreted<i64, double, double, double>(pendulum_gradient);
  constexpr i64 steps = 1000;
  numbers kept(2 * steps), at{1.0, 0.5, 0.1};
  auto const primal = [&] { return pendulum_by_hand(opaque(steps), opaque(at[0]), at[1], at[2]); };
  auto const by_hand = [&] { return pendulum_adjoint(opaque(steps), opaque(at[0]), at[1], at[2], kept); };
  auto const all = [&] { return compiled(opaque(steps), opaque(at[0]), at[1], at[2]); };
  auto const [value, slopes] = all();
  auto const expected = by_hand();
  check("pendulum", primal(), value);
  numbers const found{std::get<0>(slopes), std::get<1>(slopes), std::get<2>(slopes)};
  check("pendulum", numbers{expected.by_angle, expected.by_speed, expected.by_friction}, found);
  check_by_differences("pendulum", at, found, primal);
  compare<allocating::allowed>(
      "the gradient of a damped pendulum, 1,000 steps", way{"the function by hand", 0, primal},
      way{"the gradient by hand", 0, by_hand}, way{"compiled", 1.5, all},
      way{"interpreted", 2.4, [&] { return in_interpreter(opaque(steps), opaque(at[0]), at[1], at[2]); }});
}

template <class F, class Adjoint, class Primal>
void of_array(
    char const* what, std::size_t n, F const& f, Primal const& f_by_hand, Adjoint const& adjoint,
    double over_primal, double over_hand) {
  numbers x = between(-1, 1, n), by_x(n), kept(n);
  auto const compiled = machine_code<array<double>>(value_and_gradient(f));
  auto const in_interpreter = interpreted<array<double>>(value_and_gradient(f));
  array<double> const xs = borrowed(x);
  auto const primal = [&] {
    forget_memory();
    return f_by_hand(view(x));
  };
  auto const by_hand = [&] {
    forget_memory();
    return adjoint(x, by_x, kept);
  };
  auto const all = [&] {
    forget_memory();
    return compiled(xs);
  };
  check(what, by_hand(), all().first);
  check(what, by_x, all().second);
  check_by_differences(what, x, by_x, primal, 1e-6);
  compare<allocating::allowed>(
      what, way{"the function by hand", 0, primal}, way{"the gradient by hand", 0, by_hand},
      way{"compiled", over_primal, all}, way{"interpreted", 0, [&] {
                                               forget_memory();
                                               return in_interpreter(xs);
                                             }});
  if (over_hand == 0) return;
  // The hand-written gradient overwrites the previous one; an instance reuses its memory, too.
  auto instance = compiled.made().run().instance();
  compare<allocating::allowed>(
      what, way{"the gradient by hand", 0, by_hand}, way{"compiled, an array for each gradient", 0, all},
      way{"compiled, an instance", over_hand, [&] {
            forget_memory();
            return instance.template call<std::tuple<double, std::span<double const>>>(xs);
          }});
}

inline constexpr auto mixture_gradient = value_and_gradient<3, 4, 5, 6>(mixture);
template <class Made>
auto call(Made const& made, mixture_example const& e) {
  forget_memory();
  return made(
      i64{mixture_example::d}, i64{mixture_example::k}, static_cast<i64>(e.n), borrowed(e.weights),
      borrowed(e.means), borrowed(e.diagonals), borrowed(e.factors), borrowed(e.points));
}

void gaussian_mixture(std::size_t points) {
  using numbers_of = array<double>;
  mixture_example e(points);
  mixture_adjoint adjoint(e);
  auto const compiled =
      machine_code<i64, i64, i64, numbers_of, numbers_of, numbers_of, numbers_of, numbers_of>(
          mixture_gradient);
  auto const in_interpreter =
      interpreted<i64, i64, i64, numbers_of, numbers_of, numbers_of, numbers_of, numbers_of>(
          mixture_gradient);
  char const* const what = e.name.c_str();
  auto const [value, slopes] = call(compiled, e);
  check(what, adjoint(), value);
  check(what, adjoint.by_weights, std::get<0>(slopes));
  check(what, adjoint.by_means, std::get<1>(slopes));
  check(what, adjoint.by_diagonals, std::get<2>(slopes));
  check(what, adjoint.by_factors, std::get<3>(slopes));
  auto const primal = [&] { return e.by_hand(in_order); };
  check_by_differences(what, e.weights, adjoint.by_weights, primal);
  check_by_differences(what, e.means, adjoint.by_means, primal);
  check_by_differences(what, e.diagonals, adjoint.by_diagonals, primal);
  check_by_differences(what, e.factors, adjoint.by_factors, primal);
  compare<allocating::allowed>(
      ("the gradient of " + e.name).c_str(), way{"the function by hand", 0, primal},
      way{"the gradient by hand", 0, [&] { return adjoint(); }},
      way{"compiled", 2.0, [&] { return call(compiled, e); }},
      way{"interpreted", 7.0, [&] { return call(in_interpreter, e); }});
}

// ---- arrays that are updated in place

// The sum of the logarithms of a Cholesky factor's diagonal. The inner loops read the array that the outer ones update.
inline constexpr auto cholesky = overdub::fn<"cholesky">([](auto const& a, auto n) {
  using overdub::loop, overdub::update;
  auto const factor = loop(n, a, [&](auto j, auto const& rows) {
    auto const s =
        loop(j, rows[j * n + j], [&](auto k, auto sum) { return sum - rows[j * n + k] * rows[j * n + k]; });
    auto const d = sqrt(s);
    return loop(n - j - 1, update(rows, j * n + j, d), [&](auto t, auto const& m) {
      auto const i = j + 1 + t;
      auto const v =
          loop(j, m[i * n + j], [&](auto k, auto sum) { return sum - m[i * n + k] * m[j * n + k]; });
      return update(m, i * n + j, v / d);
    });
  });
  return loop(n, 0.0, [&](auto j, auto sum) { return sum + log(factor[j * n + j]); });
});
double cholesky_by_hand(numbers l, std::size_t n) {
  for (std::size_t j = 0; j < n; ++j) {
    double s = l[j * n + j];
    for (std::size_t k = 0; k < j; ++k) s -= l[j * n + k] * l[j * n + k];
    double const d = std::sqrt(s);
    l[j * n + j] = d;
    for (std::size_t i = j + 1; i < n; ++i) {
      double v = l[i * n + j];
      for (std::size_t k = 0; k < j; ++k) v -= l[i * n + k] * l[j * n + k];
      l[i * n + j] = v / d;
    }
  }
  double sum = 0;
  for (std::size_t j = 0; j < n; ++j) sum += std::log(l[j * n + j]);
  return sum;
}
void factorisation(std::size_t n) {
  numbers a(n * n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      double const distance = static_cast<double>(i) - static_cast<double>(j);
      a[i * n + j] = std::exp(-0.01 * distance * distance) + (i == j ? 0.5 : 0);
    }
  auto const f = value_and_gradient<0>(cholesky);
  auto const compiled = machine_code<array<double>, i64>(f);
  auto const in_interpreter = interpreted<array<double>, i64>(f);
  auto const call = [&](auto const& made) {
    forget_memory();
    return made(borrowed(a), static_cast<i64>(n));
  };
  auto const primal = [&] {
    forget_memory();
    return cholesky_by_hand(a, n);
  };
  std::string const what = "the gradient of a Cholesky factorisation, " + std::to_string(n) + " rows";
  auto const [value, slopes] = call(compiled);
  check(what.c_str(), primal(), value);
  check_by_differences(what.c_str(), a, numbers(slopes.begin(), slopes.end()), primal);
  compare<allocating::allowed>(
      what.c_str(), way{"the function by hand", 0, primal},
      way{"compiled", n >= 64 ? 3.0 : 0.0, [&] { return call(compiled); }},
      way{"interpreted", 0, [&] { return call(in_interpreter); }});
}

// ---- the first gradient

// Processor time, so that other processes do not count.
template <class F>
double milliseconds(F const& f) {
  std::clock_t const start = std::clock();
  use(f());
  return static_cast<double>(std::clock() - start) * 1e3 / CLOCKS_PER_SEC;
}
// From the C++ function to its first gradient, with an empty cache: the first time, and the fastest of eleven.
template <class... A, class F>
void cold(char const* what, double goal, F const& f, auto const& call) {
  auto const first_gradient = [&] {
    overdub::compilation_cache cache;
    return call(overdub::compile(
        f, overdub::signature<A...>,
        {.executor = overdub::jit::compiled(), .tiers = overdub::tiers::compile_now, .cache = &cache}));
  };
  double const first = milliseconds(first_gradient);
  double best = first;
  for (int round = 0; round < 10; ++round) best = std::min(best, milliseconds(first_gradient));
  std::printf(
      "  %-44s %8.2f ms, the first %8.2f ms   goal %.0f ms  %s\n", what, best, first, goal,
      best > goal ? "MISS" : "pass");
}
void first_gradients() {
  using numbers_of = array<double>;
  std::printf("the first gradient, with all that it takes to make it\n");
  for (i64 const steps : {i64{10}, i64{1000}})
    cold<i64, double, double, double>(
        ("pendulum, " + std::to_string(steps) + " steps").c_str(), 20, pendulum_gradient,
        [&](auto const& made) { return made(steps, 1.0, 0.5, 0.1); });
  numbers const x = between(-1, 1, 100);
  cold<numbers_of>("rosenbrock of 100 numbers", 20, value_and_gradient(rosenbrock), [&](auto const& made) {
    return made(borrowed(x));
  });
  for (std::size_t const points : {std::size_t{1}, std::size_t{100}}) {
    mixture_example const e(points);
    cold<i64, i64, i64, numbers_of, numbers_of, numbers_of, numbers_of, numbers_of>(
        ("mixture of " + std::to_string(points) + " points").c_str(), 50, mixture_gradient,
        [&](auto const& made) { return call(made, e); });
  }
}

} // namespace

int main() {
  first_gradients();
  swing();
  of_array(
      "the gradient of a loop with branches, 1,000 numbers", 1000, branchy, branchy_by_hand<double>,
      branchy_adjoint, 1.9, 0);
  of_array(
      "value and gradient of rosenbrock, 100 numbers", 100, rosenbrock, rosenbrock_by_hand<double>,
      [](view x, std::span<double> by_x, auto const&) { return rosenbrock_adjoint(x, by_x); }, 0, 1.25);
  gaussian_mixture(100);
  gaussian_mixture(1000);
  for (std::size_t const n : {8, 16, 32, 64, 128}) factorisation(n);
  return misses > 0;
}
