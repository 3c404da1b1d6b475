// Models whose traces can be extended.
#pragma once

#include <overdub/distributions.hpp>
#include <overdub/models/model.hpp>
#include <overdub/overdub.hpp>

#include <tuple>

namespace growing_models {

namespace od = overdub;
namespace ds = overdub::distributions;
using od::i64;

inline constexpr auto walk = od::fn<"walk">([](od::scope auto& cx, auto n, auto sd) {
  return od::loop(n, cx.lift(0.0), [&](auto, auto before) {
    auto const x = cx(od::sample<"x">, ds::normal(0.9 * before, sd));
    (void)cx(od::sample<"y">, ds::normal(x, 0.7));
    return x;
  });
});

// The loop-carried values are computed, and no choices; the trip count of the plate after the loop is the length of an array.
inline constexpr auto levels = od::fn<"levels">([](od::scope auto& cx, auto const& steps) {
  auto const sd = cx(od::sample<"sd">, ds::exponential(1));
  auto const [last, all] = cx(
      od::scan,
      [&](auto level, auto step) {
        auto const next = level + cx(od::sample<"step">, ds::normal(step, sd));
        return std::tuple(next, next);
      },
      cx.lift(0.0), steps);
  return last +
         od::sum(od::map([&](auto level) { return cx(od::sample<"seen">, ds::normal(level, 1)); }, all));
});

inline constexpr auto jumps = od::fn<"jumps">([](od::scope auto& cx, auto n) {
  return od::loop(n, cx.lift(0.0), [&](auto, auto before) {
    auto const jump = cx(od::sample<"jump">, ds::bernoulli(0.4));
    auto const level = od::if_(
        jump, [&] { return cx(od::sample<"level">, ds::normal(0, 5)); }, [&] { return before + 0.0; });
    (void)cx(od::sample<"y">, ds::normal(level, 0.5));
    return level;
  });
});

inline constexpr auto groups = od::fn<"groups">([](od::scope auto& cx, auto n, auto m) {
  auto const mu = cx(od::sample<"mu">, ds::normal(1, 2));
  return od::sum(cx(od::tabulate, n, [&](auto) {
    auto const theta = cx(od::sample<"theta">, ds::normal(mu, 1));
    return od::sum(
        cx(od::tabulate, m, [&](auto) { return cx(od::sample<"y">, ds::student_t(4, theta, 0.5)); }));
  }));
});

} // namespace growing_models
