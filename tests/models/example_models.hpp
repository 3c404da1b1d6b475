// Models that several tests run, each with its log density in plain C++, which does not use the library's models.
#pragma once

#include <overdub/distributions.hpp>
#include <overdub/models/model.hpp>
#include <overdub/overdub.hpp>

#include <tuple>

namespace example_models {

namespace od = overdub;
namespace ds = overdub::distributions;
namespace ms = overdub::models;
using od::i64;
using vec = od::array<double>;

// A plate, of observations.
inline constexpr auto line = od::fn<"line">([](od::scope auto& cx, auto const& xs) {
  auto const slope = cx(od::sample<"slope">, ds::normal(0, 2));
  auto const sd = cx(od::sample<"sd">, ds::exponential(1));
  auto const ys = od::map([&](auto x) { return cx(od::sample<"y">, ds::normal(slope * x, sd)); }, xs);
  return std::tuple(slope, od::sum(ys));
});
inline double density_of_line(ms::trace const& t, vec const& xs) {
  double const slope = t.get<double>("slope"), sd = t.get<double>("sd");
  double sum = log_density(ds::normal(0, 2), slope) + log_density(ds::exponential(1), sd);
  for (i64 i = 0; i < xs.size(); ++i)
    sum += log_density(ds::normal(slope * xs[i], sd), t.get<double>({"y", {i}}));
  return sum;
}

// Nested plates.
inline constexpr auto groups = od::fn<"groups">([](od::scope auto& cx, auto n, auto m) {
  auto const mu = cx(od::sample<"mu">, ds::normal(1, 2));
  return od::sum(cx(od::tabulate, n, [&](auto) {
    auto const theta = cx(od::sample<"theta">, ds::normal(mu, 1));
    return od::sum(
        cx(od::tabulate, m, [&](auto) { return cx(od::sample<"y">, ds::student_t(4, theta, 0.5)); }));
  }));
});
inline double density_of_groups(ms::trace const& t, i64 n, i64 m) {
  double const mu = t.get<double>("mu");
  double sum = log_density(ds::normal(1, 2), mu);
  for (i64 i = 0; i < n; ++i) {
    double const theta = t.get<double>({"theta", {i}});
    sum += log_density(ds::normal(mu, 1), theta);
    for (i64 k = 0; k < m; ++k)
      sum += log_density(ds::student_t(4, theta, 0.5), t.get<double>({"y", {i, k}}));
  }
  return sum;
}

// A chain with observations.
inline constexpr auto walk = od::fn<"walk">([](od::scope auto& cx, auto n, auto drift) {
  return od::loop(n, cx.lift(0.0), [&](auto, auto z) {
    auto const next = cx(od::sample<"z">, ds::normal(0.9 * z + drift, 1));
    (void)cx(od::sample<"seen">, ds::poisson(od::exp(0.2 * next)));
    return next;
  });
});
inline double density_of_walk(ms::trace const& t, i64 n, double drift) {
  double sum = 0, z = 0;
  for (i64 i = 0; i < n; ++i) {
    double const next = t.get<double>({"z", {i}});
    sum += log_density(ds::normal(0.9 * z + drift, 1), next) +
           log_density(ds::poisson(std::exp(0.2 * next)), t.get<i64>({"seen", {i}}));
    z = next;
  }
  return sum;
}

// Branches, with one address in both branches, and others in one of them.
inline constexpr auto kinds = od::fn<"kinds">([](od::scope auto& cx, auto n) {
  return od::sum(cx(od::tabulate, n, [&](auto) {
    auto const z = cx(od::sample<"z">, ds::bernoulli(0.4));
    return od::if_(
        z,
        [&] {
          auto const x = cx(od::sample<"x">, ds::normal(0, 1));
          return x * cx(od::sample<"left">, ds::gamma(2, 1));
        },
        [&] {
          auto const x = cx(od::sample<"x">, ds::normal(5, 2));
          return x + od::convert<double>(cx(od::sample<"right">, ds::poisson(3)));
        });
  }));
});
inline double density_of_kinds(ms::trace const& t, i64 n) {
  double sum = 0;
  for (i64 i = 0; i < n; ++i) {
    bool const z = t.get<bool>({"z", {i}});
    double const x = t.get<double>({"x", {i}});
    sum += log_density(ds::bernoulli(0.4), z);
    if (z)
      sum += log_density(ds::normal(0, 1), x) + log_density(ds::gamma(2, 1), t.get<double>({"left", {i}}));
    else
      sum += log_density(ds::normal(5, 2), x) + log_density(ds::poisson(3), t.get<i64>({"right", {i}}));
  }
  return sum;
}

// A model that is called several times, by within, and in a map.
inline constexpr auto part = od::fn<"part">([](od::scope auto& cx, auto n, auto mu) {
  auto const s = cx(od::sample<"s">, ds::exponential(1));
  return od::sum(cx(od::tabulate, n, [&](auto) { return cx(od::sample<"x">, ds::normal(mu, s)); }));
});
inline constexpr auto parts = od::fn<"parts">([](od::scope auto& cx, auto n) {
  auto const a = cx(od::within<"a">(part), n, 0.5);
  auto const b = cx(od::within<"b">(part), n, a);
  return od::sum(cx(
      od::tabulate, n, [&](auto i) { return cx(od::within<"each">(part), n, b + od::convert<double>(i)); }));
});
inline double density_of_parts(ms::trace const& t, i64 n) {
  double sum = 0;
  auto const of_part = [&](std::string const& name, std::vector<i64> at, double mu) {
    double const s = t.get<double>({name + "/s", at});
    sum += log_density(ds::exponential(1), s);
    double total = 0;
    at.push_back(0);
    for (; at.back() < n; ++at.back()) {
      double const x = t.get<double>({name + "/x", at});
      sum += log_density(ds::normal(mu, s), x);
      total += x;
    }
    return total;
  };
  double const b = of_part("b", {}, of_part("a", {}, 0.5));
  for (i64 i = 0; i < n; ++i) of_part("each", {i}, b + static_cast<double>(i));
  return sum;
}

// Maps, loops, scans, models in models, branches, and choices that are arrays.
inline constexpr auto two_scales = od::fn<"two_scales">([](od::scope auto& cx, auto n, auto mean) {
  return cx(od::tabulate, n, [&](auto) {
    auto const is_far = cx(od::sample<"is_far">, ds::bernoulli(0.3));
    return od::if_(
        is_far, [&] { return cx(od::sample<"wide">, ds::normal(mean, 10)); },
        [&] { return cx(od::sample<"narrow">, ds::normal(mean, 1)); });
  });
});
inline constexpr auto everything = od::fn<"everything">([](od::scope auto& cx, auto n, auto const& xs) {
  auto const mean = cx(od::sample<"mean">, ds::normal(0, 5));
  auto const p = cx(od::sample<"p">, ds::dirichlet(xs));
  auto const first = cx(od::within<"first">(two_scales), n, mean);
  auto const second = cx(od::within<"second">(two_scales), n + 1, mean + p[0]);
  auto const last = cx(od::loop, n, cx.lift(0.0), [&](auto i, auto x) {
    auto const step = cx(od::sample<"step">, ds::normal(x, 1 + od::convert<double>(i)));
    return step;
  });
  auto const k = cx(od::sample<"k">, ds::poisson(3.0));
  auto const ys = od::map([&](auto x) { return cx(od::sample<"y">, ds::normal(last * x, 0.5)); }, xs);
  return od::sum(first) + od::sum(second) + od::sum(ys) + od::convert<double>(k);
});

} // namespace example_models
