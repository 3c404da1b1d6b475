// The modes of elementary functions. Functions that spend their time in elementary functions, compiled in each mode, against the same
// function by the host's compiler (at -O3 -march=native -ffp-contract=off, with libm).
#include "models.hpp"
#include "ratio.hpp"

#include <overdub/ir/consistent.hpp>
#include <overdub/jit/jit.hpp>
#include <overdub/pass/pipeline.hpp>
#include <overdub/stage/stage.hpp>

#include <string>

namespace {

using namespace bench;
using overdub::array;
using overdub::i64;
using overdub::ir::math_mode;

template <class... T, class F>
overdub::instance compiled(F const& f, math_mode math) {
  overdub::ir::program p = overdub::stage(f, overdub::signature<T...>);
  p.math = math;
  overdub::pass::default_pipeline(p);
  return overdub::jit::compile(p).instance();
}
// Times all modes against by_hand(in_lanes) and by_hand(in_order).
template <class... T, class F, class Hand, class Run>
void in_all_modes(char const* what, F const& f, Hand const& by_hand, Run const& run) {
  auto exact = compiled<T...>(f, math_mode::exact), consistent = compiled<T...>(f, math_mode::consistent),
       fast = compiled<T...>(f, math_mode::fast);
  compare<allocating::allowed>(
      what, way{"by hand, in the same order", 0, [&] { return by_hand(in_lanes); }},
      way{"by hand, in the order of the indices", 0, [&] { return by_hand(in_order); }},
      way{"exact", 0, [&] { return run(exact); }}, way{"consistent", 0.5, [&] { return run(consistent); }},
      way{"fast", 0.5, [&] { return run(fast); }});
}

inline constexpr auto waves =
    fn<"waves">([](auto const& x) { return overdub::map([](auto a) { return sin(a) * exp(a); }, x); });
inline constexpr auto logarithms =
    fn<"logarithms">([](auto const& x) { return overdub::map([](auto a) { return log(a); }, x); });

// The logarithm of the density of a mixture of normal distributions.
inline constexpr auto density = fn<"density">([](auto points, auto weights, auto means, auto scales) {
  using overdub::sum, overdub::tabulate;
  return sum(tabulate(overdub::size(points), [=](auto i) {
    auto const x = points[i];
    return log(sum(tabulate(overdub::size(weights), [=](auto j) {
      auto const z = (x - means[j]) * scales[j];
      return weights[j] * exp(-0.5 * z * z);
    })));
  }));
});

template <class F, class Each>
void map_of(char const* what, F const& f, Each const& each) {
  numbers const x = between(0.1, 3, 10'000);
  numbers out(x.size());
  auto const by_hand = [&](auto const&) {
    forget_memory();
    for (std::size_t i = 0; i < x.size(); ++i) out[i] = each(x[i]);
    return out[x.size() / 2];
  };
  in_all_modes<array<double>>(
      what, f, by_hand, [&](auto& run) { return run.template call<array<double>>(view(x))[5'000]; });
}

void gaussian_mixture() {
  mixture_example example;
  in_all_modes<i64, i64, i64, array<double>, array<double>, array<double>, array<double>, array<double>>(
      example.name.c_str(), mixture, [&](auto const& sum) { return example.by_hand(sum); },
      [&](auto& run) { return example.call(run); });
}

void density_of_normals() {
  constexpr std::size_t n = 2'000, k = 16;
  numbers const points = between(-3, 3, n), weights = between(0, 1, k), means = between(-3, 3, k),
                scales = between(0.5, 2, k);
  auto const by_hand = [&](auto const& sum) {
    forget_memory();
    return sum(n, [&](std::size_t i) {
      double const x = points[i];
      return std::log(sum(k, [&](std::size_t j) {
        double const z = (x - means[j]) * scales[j];
        return weights[j] * std::exp(-0.5 * z * z);
      }));
    });
  };
  in_all_modes<array<double>, array<double>, array<double>, array<double>>(
      "the logarithm of the density of a mixture of 16 normals at 2,000 points", density, by_hand,
      [&](auto& run) { return run.template call<double>(points, weights, means, scales); });
}

void logistic_likelihood() {
  constexpr std::size_t n = 10'000, d = 10;
  numbers const points = between(-1, 1, n * d), weights = between(-1, 1, d);
  numbers labels = between(0, 1, n);
  for (double& y : labels) y = y < 0.5 ? 0 : 1;
  auto const by_hand = [&](auto const& sum) {
    forget_memory();
    return logistic_by_hand(points, labels, weights, sum);
  };
  in_all_modes<array<double>, array<double>, array<double>>(
      "the logarithm of a logistic likelihood, 10,000 x 10", logistic, by_hand,
      [&](auto& run) { return run.template call<double>(points, labels, weights); });
}

} // namespace

int main() {
  if (overdub::ir::consistent == nullptr) return std::puts("overdub::sleef is not linked"), 1;
  map_of("sin(x) exp(x) of 10,000 numbers", waves, [](double a) { return std::sin(a) * std::exp(a); });
  map_of("log(x) of 10,000 numbers", logarithms, [](double a) { return std::log(a); });
  logistic_likelihood();
  density_of_normals();
  gaussian_mixture();
}
