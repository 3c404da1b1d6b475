// Particle filters of models, whose steps are incremental.
#include "catch.hpp"
#include "models/generative_laws.hpp"
#include "models/growing_models.hpp"

#include <overdub/models/filter.hpp>
#include <overdub/models/moves.hpp>

#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace {

namespace ms = overdub::models;
using namespace growing_models;

std::vector<double> const seen{0.4, 1.1, 0.2, -0.9, -1.3, -0.2, 0.8, 1.9, 1.2, 0.3};

/// The evidence, and the mean of the last state.
std::pair<double, double> kalman() {
  double log_evidence = 0, mean = 0, variance = 0;
  for (double const y : seen) {
    mean *= 0.9;
    variance = 0.81 * variance + 0.25;
    double const spread = variance + 0.49;
    log_evidence += log_density(ds::normal(mean, std::sqrt(spread)), y);
    mean += variance / spread * (y - mean);
    variance *= 0.49 / spread;
  }
  return {log_evidence, mean};
}

ms::choice_map seen_at(std::size_t t) { return {{ms::address("y", {static_cast<i64>(t)}), seen[t]}}; }

static_assert(ms::model_trace<ms::particle>);

} // namespace

TEST_CASE(
    "a particle filter of models has the evidence and the mean of a Kalman filter, with rejuvenation or "
    "without",
    "[statistics]") {
  auto const m = ms::model(walk, i64{1}, 0.5);
  auto const at = [&](std::size_t t) { return m.with(static_cast<i64>(t + 1), 0.5); };
  auto const [evidence, mean] = kalman();
  od::inference::filter_settings const settings{.particles = 4000};
  auto const check = [&](auto const& f) {
    CHECK(f.log_evidence == Approx(evidence).margin(0.1));
    CHECK(f.mean([](ms::particle const& p) { return p.get<double>("x[9]"); }) == Approx(mean).margin(0.05));
    CHECK(f.resamplings > 0);
    for (ms::particle const& p : f.values) REQUIRE(p.is_incremental());
    generative_laws::verdict same;
    for (std::size_t k = 0; k < 20; ++k)
      generative_laws::check_reading(same, f.values[k], f.values[k].as_trace(), {"x", "y[3]"});
    CHECK(same.why() == "");
  };
  check(ms::particle_filter(at, seen_at, seen.size(), settings, od::random_key(1)));
  check(
      ms::particle_filter(at, seen_at, seen.size(), settings, od::random_key(2), ms::random_walk("x", 0.5)));
}

TEST_CASE("an incremental filter equals one that runs the model in each step, draw for draw, on any number "
          "of threads") {
  auto const m = ms::model(jumps, i64{1});
  auto const at = [&](std::size_t t) { return m.with(static_cast<i64>(t + 1)); };
  auto const again = od::inference::particle_filter(
      [](od::random_key const&) { return std::optional<ms::trace>(); },
      [&](std::optional<ms::trace>& p, std::size_t t, od::random_key const& key) {
        double weight = 0;
        if (p) {
          auto u = at(t).update(*p, seen_at(t), key);
          p = u.of;
          weight = u.weight;
        } else {
          auto g = at(t).generate(seen_at(t), key);
          p = g.of;
          weight = g.weight;
        }
        return weight;
      },
      seen.size(), {.particles = 60}, od::random_key(3));
  for (unsigned const threads : {1u, 3u}) {
    auto const f = ms::particle_filter(
        at, seen_at, seen.size(), {.particles = 60, .threads = threads}, od::random_key(3));
    CHECK(f.resamplings == again.resamplings);
    CHECK(f.log_evidence == Approx(again.log_evidence).epsilon(1e-12));
    for (std::size_t i = 0; i < f.values.size(); ++i)
      CHECK(f.values[i].as_trace().choices() == again.values[i]->choices());
  }
}

TEST_CASE("models without incremental traces are run in each step, with the same results") {
  // The number of choices is a choice.
  constexpr auto some = od::fn<"some">([](od::scope auto& cx, auto n) {
    auto const k = cx(od::sample<"k">, ds::poisson(3));
    auto const mean =
        od::sum(cx(od::tabulate, k, [&](auto) { return cx(od::sample<"z">, ds::normal(0, 1)); }));
    return od::sum(cx(od::tabulate, n, [&](auto) { return cx(od::sample<"y">, ds::normal(mean, 1)); }));
  });
  auto const m = ms::model(some, i64{1});
  auto const f = ms::particle_filter(
      [&](std::size_t t) { return m.with(static_cast<i64>(t + 1)); }, seen_at, seen.size(), {.particles = 50},
      od::random_key(3));
  CHECK(std::isfinite(f.log_evidence));
  for (ms::particle const& p : f.values) {
    CHECK(!p.is_incremental());
    CHECK(p.get<double>("y[9]") == seen[9]);
  }
  // Longer rows are no iterations of the outermost map.
  auto const g = ms::model(groups, i64{2}, i64{1});
  auto const of_rows = ms::particle_filter(
      [&](std::size_t t) { return g.with(i64{2}, static_cast<i64>(t + 1)); },
      [&](std::size_t t) {
        return ms::choice_map{{ms::address("y", {0, static_cast<i64>(t)}), seen[t]}};
      },
      seen.size(), {.particles = 50}, od::random_key(3), ms::random_walk("mu"));
  CHECK(std::isfinite(of_rows.log_evidence));
  CHECK(of_rows.values[0].get<double>("y[0][4]") == seen[4]);
}
