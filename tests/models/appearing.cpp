// Choices that appear and vanish with a branch: incremental chains equal re-executed ones, draw for draw; posteriors are those of sums
// and integrals; and a missing correction is detected.
#include "catch.hpp"
#include "incremental/chains.hpp"
#include "models/model_posteriors.hpp"

#include <overdub/inference/summary.hpp>
#include <overdub/models/calibration.hpp>
#include <overdub/models/hamiltonian_move.hpp>
#include <overdub/models/mcmc.hpp>

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

namespace {

using namespace model_posteriors;
using Catch::Matchers::Contains;
using incremental_chains::any_move, incremental_chains::compare, incremental_chains::compared,
    incremental_chains::model_of_seed;
using incremental_updates::programs;
using ms::from_prior, ms::gibbs, ms::random_walk;

od::random_key const key(1);

// ---- models

// Some points have a shift, a choice in a branch.
inline constexpr auto outliers = od::fn<"outliers">([](od::scope auto& cx, auto n) {
  auto const mu = cx(od::sample<"mu">, ds::normal(0, 1));
  return od::sum(cx(od::tabulate, n, [&](auto) {
    auto const odd = cx(od::sample<"odd">, ds::bernoulli(0.3));
    auto const at = od::if_(
        odd, [&] { return mu + cx(od::sample<"shift">, ds::normal(0, 3)); }, [&] { return mu + 0.0; });
    return cx(od::sample<"y">, ds::normal(at, 1));
  }));
});

// A level that jumps: each iteration has a new one, or that of the previous iteration.
inline constexpr auto jumps = od::fn<"jumps">([](od::scope auto& cx, auto n) {
  auto const rate = cx(od::sample<"rate">, ds::beta(1, 4));
  return od::loop(n, cx.lift(0.0), [&](auto, auto before) {
    auto const jump = cx(od::sample<"jump">, ds::bernoulli(rate));
    auto const level = od::if_(
        jump, [&] { return cx(od::sample<"level">, ds::normal(before, 2)); }, [&] { return before + 0.0; });
    (void)cx(od::sample<"y">, ds::normal(level, 0.5));
    return level;
  });
});

// Nested branches, and one that depends on a choice that may not be made.
inline constexpr auto tree = od::fn<"tree">([](od::scope auto& cx, auto n) {
  auto const split = cx(od::sample<"split">, ds::bernoulli(0.5));
  auto const cut = od::if_(
      split, [&] { return cx(od::sample<"cut">, ds::uniform(0, 4)); }, [&] { return cx.lift(9.0); });
  auto const left = cx(od::sample<"left">, ds::normal(0, 2));
  auto const right = od::if_(
      split,
      [&] {
        auto const far = cx(od::sample<"far">, ds::bernoulli(0.3));
        auto const there = cx(od::sample<"right">, ds::normal(left, 2));
        return od::if_(
            far, [&] { return there + cx(od::sample<"jump">, ds::exponential(0.2)); },
            [&] { return there + 0.0; });
      },
      [&] { return left + 0.0; });
  return od::sum(cx(od::tabulate, n, [&](auto i) {
    return cx(od::sample<"y">, ds::normal(od::select(od::convert<double>(i) < cut, left, right), 0.7));
  }));
});

vec const points{0.3, -1.1, 6.0, 0.9, -5.2, 1.7, 0.1, 2.9};
vec const steps{0.1, -0.2, 0.3, 3.1, 2.9, 3.3, -2.0, -2.4};

double normal_density(double x, double mean, double variance) {
  return std::exp(-0.5 * (x - mean) * (x - mean) / variance) / std::sqrt(2 * std::numbers::pi * variance);
}

// A proposal that flips a bool, with a wrong weight: the ratio of the joint densities, without terms for choices that are drawn or vanish.
struct uncorrected_flip {
  std::vector<i64> at{};
  template <class Trace>
  void operator()(Trace& t, od::random_key const& k, ms::move_record& record) {
    std::uint32_t const s = t.core().site_at("odd");
    for (std::size_t n = 0; n < t.size(s); ++n) {
      od::random_key const own = k.at(n);
      t.indices_of(s, n, at);
      t.set_bits(s, at, t.bits(s, at) ^ 1);
      t.propose(own);
      double const weight = t.proposed_score() - t.score();
      od::random_generator g(own);
      if (ms::detail::accepts(weight, t.score(), g, record))
        t.commit();
      else
        t.rollback();
    }
  }
};
// The same with the weight of the trace; and a proposal that sets the shift, near the observation.
auto flip() {
  return ms::metropolis([at = std::vector<i64>()](auto& t, od::random_key const& k) mutable {
    od::random_generator g(k);
    std::uint32_t const s = t.core().site_at("odd");
    t.indices_of(s, static_cast<std::size_t>(g.uniform() * static_cast<double>(t.size(s))), at);
    t.set_bits(s, at, t.bits(s, at) ^ 1);
    return 0.0;
  });
}
auto flip_with_shift() {
  return ms::metropolis([at = std::vector<i64>()](auto& t, od::random_key const& k) mutable {
    od::random_generator g(k);
    std::uint32_t const odd = t.core().site_at("odd"), shift = t.core().site_at("shift"),
                        y = t.core().site_at("y"), mu = t.core().site_at("mu");
    t.indices_of(odd, static_cast<std::size_t>(g.uniform() * static_cast<double>(t.size(odd))), at);
    double const near = t.number(y, at) - t.number(mu, {});
    auto const log_q = [&](double x) { return -0.5 * (x - near) * (x - near) / 2.25 - std::log(1.5); };
    auto const log_prior = [&](double x) { return -0.5 * x * x / 9 - std::log(3); };
    bool const is_odd = t.bits(odd, at) != 0;
    t.set_bits(odd, at, !is_odd);
    if (is_odd) { // it vanishes: the reverse proposal draws it by this density, not from its distribution
      double const x = t.number(shift, at);
      return log_q(x) - log_prior(x);
    }
    double const x = near + 1.5 * inf::drawing::normal(g);
    t.set_bits(shift, at, std::bit_cast<std::uint64_t>(x));
    return 0.9189385332046727 - log_q(x); // the constant that log_q omits
  });
}

void check_outliers(auto const& move) {
  // Given mu, points are independent, and shifts are integrated out.
  auto const m = ms::model(fast(), outliers, points.size());
  inf::draws const d = inf::run_chains(
      ms::mcmc(m, {{"y", points}, {"mu", 0.25}}, move, random_walk("shift")),
      {.chains = 2, .warmup = 200, .draws = 20'000}, key);
  CHECK(d.names().size() == 16);
  for (i64 i = 0; i < points.size(); ++i) {
    double const odd = 0.3 * normal_density(points[i], 0.25, 10),
                 even = 0.7 * normal_density(points[i], 0.25, 1);
    check_frequency(d, "odd." + std::to_string(i + 1), 1, odd / (odd + even));
    // Given that it is made, a shift is normal.
    std::vector<double> const &made = d.column("odd." + std::to_string(i + 1)).values,
                              &shift = d.column("shift." + std::to_string(i + 1)).values;
    double sum = 0, count = 0;
    for (std::size_t k = 0; k < made.size(); ++k) {
      REQUIRE(std::isnan(shift[k]) == (made[k] == 0));
      if (made[k] != 0) sum += shift[k], ++count;
    }
    INFO("point " << i << ", " << count << " shifts");
    if (count > 2000) CHECK(sum / count == Approx(0.9 * (points[i] - 0.25)).margin(0.15));
  }
}

} // namespace

TEST_CASE("incremental chains whose choices appear and vanish equal re-executed ones, draw for draw") {
  std::uint64_t const count = programs(1'000);
  compared all;
  auto const add = [&](compared const& c) {
    CHECK(c.transitions == count);
    CHECK((c.accepted > c.proposed / 20 && c.accepted < c.proposed));
    CHECK(c.changed > count / 50);
    all.ties += c.ties;
  };
  add(compare(
      ms::model(fast(), outliers, points.size()), {{"y", points}}, count, from_prior("odd"),
      random_walk("shift"), random_walk("mu"), flip(), flip_with_shift(), from_prior("shift")));
  add(compare(
      ms::model(fast(), jumps, steps.size()), {{"y", steps}}, count, from_prior("jump"), random_walk("level"),
      from_prior("rate")));
  add(compare(
      ms::model(fast(), tree, i64{6}), {{"y", vec{0.1, 0.2, 3.5, 4.1, 3.8, 3.9}}}, count, from_prior("split"),
      random_walk("cut"), from_prior("far"), random_walk("right"), random_walk("left"), from_prior("jump")));
  CHECK(all.ties <= 1 + count / 10'000);
}

TEST_CASE("incremental chains of random models with branches equal re-executed ones") {
  std::uint64_t const count = programs(1'000);
  std::uint64_t followed = 0, changed = 0, ties = 0;
  for (std::uint64_t seed = 1; seed <= count; ++seed) {
    INFO("model " << seed);
    model_of_seed const m(seed, true);
    bool is_incremental = m.core()->has_conditional_sites();
    for (ms::site const& s : m.sites())
      if (s.is_conditional)
        is_incremental = is_incremental && !s.is_resized && s.nodes.size() == 1 && s.index_count <= 3;
    if (!is_incremental) continue;
    ++followed;
    compared const c = compare(m, {}, 10, any_move{});
    CHECK(c.transitions == 10);
    changed += c.changed;
    ties += c.ties;
  }
  CHECK(followed > count / 8);
  CHECK(changed >= followed / 8); // few models may have none
  CHECK(ties <= 1 + count / 10'000);
}

TEST_CASE("choices that appear and vanish have the posterior of sums and integrals") {
  SECTION("drawn from its distribution") { check_outliers(from_prior("odd")); }
  SECTION("by a proposal that does not set it") { check_outliers(flip()); }
  SECTION("by a proposal that sets it") { check_outliers(flip_with_shift()); }
}

TEST_CASE(
    "moves with appearing choices leave the joint distribution invariant, and do not without the correction",
    "[statistics]") {
  auto const m = ms::model(fast(), outliers, i64{3});
  CHECK(ms::test_moves(m, {"y"}, {}, key, from_prior("odd"), random_walk("shift", 2), random_walk("mu"))
            .passed());
  CHECK(ms::test_moves(m, {"y"}, {}, key, flip(), flip(), from_prior("shift"), from_prior("mu")).passed());
  inf::joint_test const wrong =
      ms::test_moves(m, {"y"}, {}, key, uncorrected_flip(), random_walk("shift", 2), random_walk("mu"));
  CHECK_FALSE(wrong.passed());
  CHECK(std::abs(wrong["odd[1]"].z) > 5);
  CHECK(ms::test_moves(
            ms::model(fast(), jumps, i64{4}), {"y"}, {}, key, from_prior("jump"), random_walk("level"),
            from_prior("rate"))
            .passed());
  CHECK(ms::test_moves(
            ms::model(fast(), tree, i64{3}), {"y"}, {}, key, from_prior("split"), random_walk("cut"),
            from_prior("far"), random_walk("right"), random_walk("left"), from_prior("jump"))
            .passed());
}

TEST_CASE(
    "an update that affects no branch executes none, and one that flips a branch executes one iteration") {
  auto const m = ms::model(outliers, i64{1000});
  ms::followed_trace t(m.simulate(key));
  std::uint32_t const odd = m.core()->site_at("odd");
  std::vector<i64> const at{412};
  bool const was = t.bits(odd, at) != 0;
  double const before = t.score();
  t.set_bits(odd, at, !was);
  double const weight = t.propose(key);
  CHECK(std::isfinite(weight));
  CHECK_FALSE(t.keeps_structure());
  CHECK_THAT(t.program().explain(), Contains("map: one iteration") && !Contains("map: recomputed in full"));
  t.commit();
  CHECK(t.is_made(m.core()->site_at("shift"), at) == !was);
  CHECK(t.as_trace().contains("shift[412]") == !was);
  CHECK(t.as_trace().score() == Approx(t.score()).epsilon(1e-12));
  CHECK(t.score() != before);
  std::size_t const programs = m.core()->update_programs()->count();
  ms::move_record record;
  for (int k = 0; k < 3; ++k) from_prior("odd")(t, key.at(k), record);
  CHECK(m.core()->update_programs()->count() <= programs + 1); // with a shift, and without one
  CHECK(t.as_trace().score() == Approx(t.score()).epsilon(1e-9));
}

TEST_CASE("the weight of a proposal that changes the structure is that of regenerate") {
  auto const m = ms::model(tree, i64{3});
  for (i64 k = 0; k < 50; ++k) {
    ms::trace const start = m.simulate(key.at(k));
    ms::followed_trace t(start);
    std::uint32_t const split = m.core()->site_at("split");
    t.set_bits(split, {}, t.bits(split, {}) ^ 1);
    double const weight = t.propose(key);
    t.commit();
    ms::trace const end = t.as_trace();
    // log p(new) - log p(old) - log q(drawn) + log q(drawn by the reverse proposal).
    auto const drawn = [](ms::trace const& of) { return ms::project(of, {"cut", "far", "right", "jump"}); };
    CHECK(
        weight == Approx(end.score() - start.score() - drawn(end) + drawn(start)).epsilon(1e-9).margin(1e-9));
  }
}

TEST_CASE("propose draws appearing choices again by a key, and keeps them without one") {
  auto const m = ms::model(tree, i64{3});
  int drew = 0;
  for (i64 k = 0; k < 60; ++k) {
    ms::trace const start = m.simulate(key.at(k));
    std::uint32_t const split = m.core()->site_at("split"), left = m.core()->site_at("left");
    auto const flip = [&](ms::followed_trace& t) { t.set_bits(split, {}, t.bits(split, {}) ^ 1); };
    auto const move = [&](ms::followed_trace& t) {
      t.set_bits(left, {}, std::bit_cast<std::uint64_t>(0.75));
    };
    ms::followed_trace t(start), fresh(start), moved(start);
    flip(t), flip(fresh), flip(moved), move(moved);
    od::random_key const other = key.at(1000 + k);
    double const first = fresh.propose(key), of_moved = moved.propose(other);
    CHECK(t.propose(key) == first);
    CHECK(t.propose(key) == first);
    CHECK(t.propose() == first);
    (void)t.propose(other);
    CHECK(t.propose(key) == first);
    // Changes between two proposals: with a key as if all changes had been made together; without a key, drawn choices keep their values
    // and densities.
    double const score = t.proposed_score();
    move(t);
    double const kept = t.propose();
    CHECK(kept == Approx(first + (t.proposed_score() - score)).epsilon(1e-9).margin(1e-9));
    CHECK(t.propose(other) == Approx(of_moved).epsilon(1e-12).margin(1e-12));
    t.commit(), moved.commit();
    CHECK(t.as_trace().choices() == moved.as_trace().choices());
    drew += moved.as_trace().choices().contains("cut");
  }
  CHECK(drew > 10);
}

TEST_CASE("a choice that is set after it was drawn does not count as drawn in the weight") {
  auto const m = ms::model(tree, i64{3});
  for (i64 k = 0, found = 0; found < 5; ++k) {
    ms::trace const start = m.simulate(key.at(k));
    if (start.get<bool>("split")) continue;
    ++found;
    ms::followed_trace t(start), given(start);
    t.set({{"split", true}});
    (void)t.propose(key);
    ms::choice_map const all{{"cut", 1.5}, {"far", false}, {"right", 0.25}};
    t.set(all);
    double const weight = t.propose(key);
    given.set({{"split", true}});
    given.set(all);
    CHECK(weight == given.propose());
  }
}

namespace {

inline constexpr auto fragile = od::fn<"fragile">([](od::scope auto& cx, auto p) {
  auto const sd = cx(od::sample<"sd">, ds::normal(1, 1));
  auto const z = cx(od::sample<"z">, ds::bernoulli(p));
  return od::if_(
      z, [&] { return cx(od::sample<"x">, ds::normal(0, sd)); }, [&] { return sd + 0.0; });
});
inline constexpr auto plate_in_branch = od::fn<"plate_in_branch">([](od::scope auto& cx, auto n) {
  auto const z = cx(od::sample<"z">, ds::bernoulli(0.5));
  return od::if_(
      z,
      [&] {
        return od::sum(cx(od::tabulate, n, [&](auto) { return cx(od::sample<"x">, ds::normal(0, 1)); }));
      },
      [&] { return cx.lift(0.0); });
});
inline constexpr auto in_two_of_three = od::fn<"in_two_of_three">([](od::scope auto& cx, auto p) {
  auto const a = cx(od::sample<"a">, ds::bernoulli(p)), b = cx(od::sample<"b">, ds::bernoulli(p));
  return od::if_(
      a, [&] { return cx(od::sample<"x">, ds::normal(0, 1)); },
      [&] {
        return od::if_(
            b, [&] { return cx(od::sample<"x">, ds::normal(5, 1)); }, [&] { return 0.0 * p; });
      });
});

} // namespace

TEST_CASE(
    "proposals in which an observed choice vanishes, or one cannot be drawn, are rejected and counted") {
  auto const m = ms::model(fragile, 0.5);
  ms::choice_map const all{{"sd", 1.0}, {"z", true}, {"x", 0.5}};
  ms::followed_trace t(m.assess(all), {{"x", 0.5}});
  std::uint32_t const z = m.core()->site_at("z"), sd = m.core()->site_at("sd"), x = m.core()->site_at("x");
  t.set_bits(z, {}, 0);
  CHECK(t.propose(key) == -std::numeric_limits<double>::infinity());
  t.rollback();
  CHECK(t.bits(z, {}) == 1);
  ms::followed_trace u(m.assess({{"sd", 1.0}, {"z", false}}));
  u.set_bits(z, {}, 1);
  u.set_bits(sd, {}, std::bit_cast<std::uint64_t>(-1.0));
  CHECK(std::isnan(u.propose(key)));
  CHECK_THROWS_WITH(u.commit(), Contains("one appear that cannot be drawn"));
  CHECK(u.number(sd, {}) == 1.0);
  CHECK_FALSE(u.is_made(x, {}));
  ms::move_record record; // sd may become negative while x is not made
  for (i64 k = 0; k < 400; ++k) {
    random_walk("sd", 2)(u, key.at(k), record);
    from_prior("z")(u, key.at(k), record);
    random_walk("x", 1)(u, key.at(k), record);
  }
  CHECK(record.undefined > 0);
  CHECK(std::isfinite(u.score()));
}

TEST_CASE("proposals without a key, and moves that do not support changes of structure, are rejected with an "
          "alternative") {
  auto const m = ms::model(fragile, 0.5);
  ms::followed_trace t(m.assess({{"sd", 1.0}, {"z", false}}));
  std::uint32_t const z = m.core()->site_at("z"), x = m.core()->site_at("x");
  char const* const said = "overdub: a change makes the choice x appear, and its value is not given; set it, "
                           "too, or give propose a key, with which it is drawn";
  t.set_bits(z, {}, 1);
  CHECK_THROWS_WITH(t.propose(), said);
  CHECK(t.bits(z, {}) == 0); // the proposal is discarded
  t.set_bits(z, {}, 1);
  CHECK_THROWS_WITH(t.commit(), said);
  t.set_bits(z, {}, 1);
  t.set_bits(x, {}, std::bit_cast<std::uint64_t>(0.25));
  CHECK(t.propose() == Approx(-0.5 * (0.25 * 0.25) - 0.9189385332046727));
  t.commit();
  CHECK(t.as_trace().get<double>("x") == 0.25);
  ms::move_record record;
  CHECK_THROWS_WITH(
      gibbs("z")(t, key, record),
      "overdub: the choice \"z\" decides on which other choices are made, so that its values cannot be "
      "compared one by one; move it by from_prior or metropolis");
  CHECK(t.bits(z, {}) == 1);
  CHECK_THROWS_WITH(
      ms::followed_trace(ms::model(plate_in_branch, i64{3}).simulate(key)),
      "overdub: the choice \"x\" is nested in a map or a loop in a branch, so that moves of other choices "
      "may "
      "make all of them appear or vanish; write the branch in the map, or change such traces by update and "
      "regenerate");
  CHECK_THROWS_WITH(
      ms::reexecuted_trace(ms::model(in_two_of_three, 0.5).simulate(key)),
      "overdub: the choice \"x\" has one address in two branches, and in a third it is not made, so that its "
      "distribution is not known where it appears; give each branch an address of its own");
}

TEST_CASE("rows have NaN for a choice that was not made, and are converted to traces without it") {
  auto const m = ms::model(outliers, i64{3});
  ms::choice_map const made{
      {"mu", 0.5},
      {"odd", od::array<bool>{true, false, true}},
      {"shift[0]", 1.5},
      {"shift[2]", -2.0},
      {"y", vec{1, 2, 3}}};
  ms::trace const t = m.assess(made);
  ms::number_row const row(t, {"mu", "odd", "shift"});
  std::vector<double> const x = row.of(t);
  REQUIRE(x.size() == 7);
  CHECK((x[4] == 1.5 && std::isnan(x[5]) && x[6] == -2));
  ms::choice_map again = row.choices(x);
  CHECK_FALSE(again.contains("shift[1]"));
  again.set("y", vec{1, 2, 3});
  CHECK(m.assess(again).score() == t.score());
}

namespace {

inline constexpr auto decided_by_data = od::fn<"decided_by_data">([](od::scope auto& cx, auto mean) {
  auto const x = cx(od::sample<"x">, ds::normal(mean, 1));
  auto const y = cx(od::sample<"y">, ds::bernoulli(0.5));
  return od::if_(
      y, [&] { return cx(od::sample<"w">, ds::normal(x, 1)); }, [&] { return x + 0.0; });
});

} // namespace

TEST_CASE("random_walk adapts by made choices alone; elliptical slices work in branches in maps; quantiles "
          "may be NaN") {
  random_walk walk("w", 0.5);
  auto const d = ms::model(decided_by_data, 0.0);
  ms::followed_trace t(d.assess({{"x", 0.0}, {"y", false}}));
  ms::move_record record;
  for (std::size_t i = 0; i < 200; ++i) {
    walk(t, key.at(static_cast<i64>(i)), record);
    walk.adapt(i);
  }
  CHECK((walk.sd() == 0.5 && record.proposed == 0));
  auto const m = ms::model(fast(), outliers, points.size());
  inf::draws const slices = inf::run_chains(
      ms::mcmc(m, {{"y", points}, {"mu", 0.25}}, from_prior("odd"), ms::elliptical_slice("shift")),
      {.chains = 2, .warmup = 200, .draws = 10'000}, key);
  double const odd = 0.3 * normal_density(points[2], 0.25, 10),
               even = 0.7 * normal_density(points[2], 0.25, 1);
  check_frequency(slices, "odd.3", 1, odd / (odd + even));
  inf::summary const s(slices);
  CHECK((std::isnan(s["shift.1"].median) && std::isnan(s["shift.1"].mean)));
  CHECK_THROWS_WITH(ms::no_u_turn{}, "overdub: no_u_turn moves no choice: name the sites that it moves");
}
