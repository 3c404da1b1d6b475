// The three models of the demo. They are functions with random choices, independent of the method of inference.
#pragma once

#include <overdub/distributions.hpp>
#include <overdub/models/sample.hpp>
#include <overdub/overdub.hpp>

namespace demo {

namespace od = overdub;
namespace ds = overdub::distributions;

/// Eight schools (Rubin 1981): similar effects, each measured with its own error. Effects are mu + tau eta with a standard normal
/// eta, so that the scale of eta does not depend on tau. Returns the effects.
inline constexpr auto schools = od::fn<"schools">([](od::scope auto& cx, auto const& errors) {
  auto const mu = cx(od::sample<"mu">, ds::normal(0, 5));
  auto const tau = cx(od::sample<"tau">, ds::half_normal(10));
  return od::map(
      [&](auto error) {
        auto const eta = cx(od::sample<"eta">, ds::normal(0, 1));
        auto const effect = mu + tau * eta;
        (void)cx(od::sample<"y">, ds::normal(effect, error));
        return effect;
      },
      errors);
});

/// Waiting times between n eruptions of two kinds: z is the kind of each eruption. The prior of a kind's mean is at its centre.
inline constexpr auto eruptions = od::fn<"eruptions">([](od::scope auto& cx, auto const& centres, auto n) {
  auto const share = cx(od::sample<"share">, ds::beta(2, 2)); // the share of the second kind
  auto const shares = cx(od::tabulate, 2, [&](auto k) { return od::select(k == 1, share, 1.0 - share); });
  auto const means = od::map([&](auto c) { return cx(od::sample<"mean">, ds::normal(c, 10)); }, centres);
  auto const sds = od::map([&](auto) { return cx(od::sample<"sd">, ds::gamma(4, 0.5)); }, centres);
  return cx(od::tabulate, n, [&](auto) {
    auto const z = cx(od::sample<"z">, ds::categorical(shares));
    return cx(od::sample<"wait">, ds::normal(means[z], sds[z]));
  });
});

/// Reaction times, in ms, of subjects with too little sleep: each subject has its own line, by days.
inline constexpr auto sleepers = od::fn<"sleepers">([](od::scope auto& cx, auto subjects, auto const& days) {
  auto const intercept = cx(od::sample<"intercept">, ds::normal(250, 50));
  auto const slope = cx(od::sample<"slope">, ds::normal(10, 10));
  auto const sd_intercept = cx(od::sample<"sd_intercept">, ds::half_normal(50));
  auto const sd_slope = cx(od::sample<"sd_slope">, ds::half_normal(10));
  auto const noise = cx(od::sample<"noise">, ds::half_normal(50));
  return cx(od::tabulate, subjects, [&](auto) {
    auto const a = cx(od::sample<"a">, ds::normal(intercept, sd_intercept));
    auto const b = cx(od::sample<"b">, ds::normal(slope, sd_slope));
    return od::sum(
        od::map([&](auto day) { return cx(od::sample<"reaction">, ds::normal(a + b * day, noise)); }, days));
  });
});

} // namespace demo
