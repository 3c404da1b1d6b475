// Traces that grow: an extension equals an update by other arguments.
#include "catch.hpp"
#include "incremental/chains.hpp"
#include "models/growing_models.hpp"

#include <overdub/models/filter.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

namespace {

namespace od = overdub;
namespace ds = overdub::distributions;
namespace ms = overdub::models;
using Catch::Matchers::Contains;
using namespace growing_models;
using incremental_chains::any_move, incremental_chains::make_all, incremental_chains::values_of;
using incremental_updates::programs;
using od::i64;
using random_program::random_numbers;
using vec = od::array<double>;

// ---- the comparison

std::string text_of(ms::choice_map const& all) {
  std::ostringstream out;
  out << all;
  return out.str();
}
bool is_near(double a, double b, double scale) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return a == b || std::abs(a - b) <= 1e-9 * std::max(1.0, std::abs(scale));
}

/// Extends a trace to these arguments, and compares it with an update by the same key; nothing, where it cannot be extended.
template <class Trace>
bool grows_as_updated(
    Trace& t, std::vector<od::datum> const& arguments, ms::choice_map const& given,
    od::random_key const& key) {
  ms::trace const before = t.as_trace();
  std::optional<ms::updated_trace> u;
  bool is_unmade = false;
  try {
    u = ms::update(before, arguments, given, key);
  } catch (ms::unmade_error const&) {
    is_unmade = true;
  } catch (ms::model_error const&) { // fewer choices than constraints
  }
  try {
    t.extend(ms::trace_extension(t.shared_core(), arguments, given));
  } catch (ms::model_error const& e) {
    CHECK_THAT(
        e.what(), Contains("change it by update") || Contains("choices along this index") ||
                      Contains("is updated alone in up to 3"));
    CHECK(t.propose() == 0);
    CHECK(t.as_trace().choices() == before.choices());
    return false;
  }
  if (is_unmade) {
    CHECK_THROWS_AS(t.propose(key), ms::model_error); // or the choices to be drawn are not known
    CHECK(t.as_trace().choices() == before.choices());
    return false;
  }
  REQUIRE(u);
  double weight = 0;
  try {
    weight = t.propose(key);
  } catch (ms::model_error const& e) {
    CHECK_THAT(e.what(), Contains("one address in two branches"));
    CHECK(t.as_trace().choices() == before.choices());
    return false;
  }
  INFO("weight " << weight << ", and " << u->weight);
  CHECK(is_near(weight, u->weight, u->of.score()));
  CHECK(is_near(t.proposed_score(), u->of.score(), u->of.score()));
  t.commit();
  CHECK(is_near(t.score(), u->of.score(), u->of.score()));
  INFO("it has\n" << text_of(t.as_trace().choices()) << "and the update\n" << text_of(u->of.choices()));
  CHECK(t.as_trace().choices() == u->of.choices());
  return true;
}

template <class Model>
ms::choice_map
some_of(Model const& m, std::vector<od::datum> const& arguments, ms::trace const& t, random_numbers& random) {
  ms::choice_map given;
  ms::trace const other = ms::simulate(m, arguments, od::random_key(random.below(1000)));
  for (std::uint32_t s = 0; s < m->sites().size(); ++s)
    other.for_each(s, [&](std::vector<i64> const& at) {
      bool const is_new = !at.empty() && at[0] >= t.values(s).shape()[0];
      if (is_new && random.chance(30)) given.set(m->sites()[s].address, at, ms::part_of(other.values(s), at));
    });
  return given;
}

struct counts {
  std::uint64_t grown = 0, refused = 0, given = 0, moved = 0;
};

/// Extends an incremental and a re-executed trace of a model step by step, with moves and copies in between.
template <class Core, class Next>
void check_growth(
    Core const& core, std::vector<od::datum> arguments, std::uint64_t seed, Next const& next, counts& all) {
  random_numbers random(seed);
  ms::trace const start = ms::simulate(core, arguments, od::random_key(seed));
  std::optional<ms::followed_trace> followed;
  try {
    followed.emplace(start);
  } catch (ms::model_error const&) { // the model has no incremental traces
    return;
  }
  ms::reexecuted_trace again(start);
  std::tuple moves{any_move{}};
  std::optional<ms::followed_trace> kept;
  for (i64 k = 0; k < 4; ++k) {
    od::random_key const key = od::random_key(seed).at(k);
    std::vector<od::datum> const more = next(arguments, random);
    ms::choice_map const given = some_of(core, more, followed->as_trace(), random);
    all.given += given.size();
    kept = *followed; // from the second time on, the assignment reuses memory
    bool const grown = grows_as_updated(*followed, more, given, key);
    if (!grown) {
      ++all.refused;
      continue;
    }
    CHECK(grows_as_updated(again, more, given, key));
    CHECK(grows_as_updated(*kept, more, given, key));
    arguments = more;
    ++all.grown;
    auto const a = make_all(*followed, moves, key.at("move")), b = make_all(again, moves, key.at("move"));
    make_all(*kept, moves, key.at("move"));
    if (a.ties + b.ties > 0) return;
    all.moved += a.accepted;
    for (std::uint32_t s = 0; s < core->sites().size(); ++s) {
      CHECK(values_of(*followed, s) == values_of(again, s));
      CHECK(values_of(*followed, s) == values_of(*kept, s));
    }
    CHECK(is_near(followed->score(), again.score(), again.score()));
    CHECK(is_near(followed->score(), followed->as_trace().score(), again.score()));
    if (random.chance(50)) followed = *kept;
  }
}

} // namespace

TEST_CASE("an extended trace equals an updated one, and then a re-executed one, draw for draw") {
  counts all;
  auto const by_number = [](std::vector<od::datum> x, random_numbers& random) {
    x[0] = x[0].as<i64>() + static_cast<i64>(random.below(4));
    return x;
  };
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    check_growth(
        ms::model(walk, i64{0}, 0.5).core(), {static_cast<i64>(seed % 3), 0.5}, seed, by_number, all);
    check_growth(ms::model(jumps, i64{0}).core(), {static_cast<i64>(seed % 4)}, seed, by_number, all);
    check_growth(
        ms::model(groups, i64{0}, i64{0}).core(), {static_cast<i64>(seed % 3), i64{3}}, seed, by_number, all);
    check_growth(
        ms::model(levels, vec{}).core(), {vec{0.5, 0.25}}, seed,
        [](std::vector<od::datum> x, random_numbers& random) {
          vec const steps = x[0].as<vec>();
          std::vector<double> longer(steps.begin(), steps.end());
          for (std::uint64_t k = random.below(4); k > 0; --k) longer.push_back(0.1 * static_cast<double>(k));
          if (random.chance(20)) longer[0] += 1; // and another argument changes
          x[0] = vec::copy_of(longer);
          return x;
        },
        all);
  }
  CHECK(all.refused * 4 < all.grown); // for constraints in a branch that is not taken
  CHECK(all.given > 50);
  CHECK(all.moved > 100);
}

TEST_CASE("extended traces of random models equal updated ones") {
  counts all;
  std::uint64_t const count = programs(150);
  for (std::uint64_t seed = 1; seed <= count; ++seed) {
    INFO("random model " << seed);
    incremental_chains::model_of_seed const m(seed, true);
    check_growth(
        m.core(), m.arguments(), seed,
        [](std::vector<od::datum> x, random_numbers& random) {
          x[0] = std::min(i64{6}, x[0].as<i64>() + static_cast<i64>(random.below(3)));
          if (random.chance(40)) x[1] = std::min(i64{6}, x[1].as<i64>() + static_cast<i64>(random.below(2)));
          if (random.chance(20)) x[2] = 0.25;
          vec const xs = x[3].as<vec>();
          std::vector<double> longer(xs.begin(), xs.end());
          if (random.chance(10)) longer[1] = 0.75;
          while (longer.size() < 7) longer.push_back(0.125 * static_cast<double>(longer.size()));
          x[3] = vec::copy_of(longer);
          return x;
        },
        all);
  }
  CHECK(all.grown > count);
  CHECK(all.moved > count);
}

TEST_CASE("an extension executes the appended iterations alone") {
  auto const m = ms::model(walk, i64{100}, 0.5);
  ms::followed_trace t(m.simulate(od::random_key(1)));
  t.extend(m.with(i64{101}, 0.5), {{"y[100]", 1.0}});
  (void)t.propose(od::random_key(2));
  std::string const ran = t.program().explain();
  CHECK_THAT(
      ran, Contains("one appended iteration") && !Contains("recomputed in full") &&
               !Contains("from the change on"));
  t.commit();
  CHECK(t.size(t.core().site_at("x")) == 101);
  CHECK(t.get<double>("y[100]") == 1.0);
  CHECK(t.is_observed(t.core().site_at("y"), 100));
  CHECK_THROWS_WITH(t.set({{"y[100]", 2.0}}), Contains("\"y\" is observed, and does not move"));
  t.set({{"x[100]", 0.5}, {"y[99]", 0.25}});
  (void)t.propose();
  t.commit();
  CHECK(t.score() == Approx(t.as_trace().score()));
  // A custom proposal of the appended choice: none is drawn.
  t.extend(m.with(i64{102}, 0.5), {{"y[101]", -1.0}});
  t.set({{"x[101]", 0.25}});
  double const weight = t.propose();
  CHECK(
      weight == Approx(log_density(ds::normal(0.45, 0.5), 0.25) + log_density(ds::normal(0.25, 0.7), -1.0)));
  t.rollback();
  CHECK(t.size(t.core().site_at("x")) == 101);
  CHECK(t.propose() == 0);
}

TEST_CASE("invalid extensions are rejected, and discarded") {
  auto const m = ms::model(walk, i64{3}, 0.5);
  auto const check = [&]<class T>(T t) {
    ms::choice_map const before = t.as_trace().choices();
    auto const refused = [&](auto const& with, ms::choice_map const& given, char const* why) {
      CHECK_THROWS_WITH(t.extend(with, given), Contains(why));
      CHECK(t.propose() == 0);
      CHECK(t.as_trace().choices() == before);
    };
    refused(
        m.with(i64{2}, 0.5), {},
        "with these arguments the choice \"x\" would have fewer choices, and a trace grows by iterations of "
        "its outermost maps and loops; change it by update");
    refused(
        m.with(i64{4}, 0.5), {{"y[4]", 1.0}},
        "y[4] was given a value, and the model makes 4 choices along this index");
    refused(
        m.with(i64{4}, 0.5), {{"y", vec{1, 2, 3}}}, "y was given 3 values, and the model makes 4 choices");
    refused(m.with(i64{4}, 0.5), {{"z[3]", 1.0}}, "never samples \"z\"");
    refused(
        m.with(i64{1} << 60, 0.5), {},
        "an array of 1152921504606846976 elements of 8 bytes is larger than the address space");
    refused(m.with(i64{4}, 0.5), {{"y[0]", 1.0}}, "is given as 1.0 to a trace that grows, and it is");
    refused(ms::model(jumps, i64{4}), {}, "is extended by @jumps; it grows by arguments of its own function");
    // Existing choices may be given with their values.
    t.extend(m.with(i64{4}, 0.5), {{"y[0]", t.template get<double>("y[0]")}});
    CHECK_THROWS_WITH(t.propose(), Contains("makes the choice x[3] appear, and its value is not given"));
    CHECK(t.as_trace().choices() == before);
    t.extend(m.with(i64{4}, 0.5));
    CHECK_THROWS_WITH(t.extend(m.with(i64{5}, 0.5)), Contains("grows twice in one proposal"));
    CHECK(t.as_trace().choices() == before);
    t.extend(m.with(i64{4}, -1.0)); // an invalid standard deviation: x[3] cannot be drawn
    CHECK(std::isnan(t.propose(od::random_key(1))));
    CHECK_THROWS_WITH(t.commit(), Contains("cannot be drawn"));
    CHECK(t.as_trace().choices() == before);
  };
  auto const start = m.simulate(od::random_key(1));
  check(ms::followed_trace(start));
  check(ms::reexecuted_trace(start));

  constexpr auto shares = od::fn<"shares">([](od::scope auto& cx, auto n, auto const& a) {
    return od::sum(cx(od::tabulate, n, [&](auto) { return cx(od::sample<"share">, ds::dirichlet(a))[0]; }));
  });
  auto const s = ms::model(shares, i64{1}, vec{1, 1});
  ms::followed_trace t(s.simulate(od::random_key(1)));
  CHECK_THROWS_WITH(
      t.extend(s.with(i64{2}, vec{1, 1})),
      Contains(
          "the appended choice share[1] is an array, which is not drawn for a trace that grows; give it"));
  t.extend(s.with(i64{2}, vec{1, 1}), {{"share[1]", vec{0.25, 0.75}}});
  CHECK(t.propose() == Approx(log_density(ds::dirichlet(vec{1, 1}), vec{0.25, 0.75})));
  t.commit();
  CHECK(t.get<vec>("share[1]")[1] == 0.75);
}

namespace {

// A choice before the loop is made if the trip count is large enough; one after it depends on the last state.
inline constexpr auto biased = od::fn<"biased">([](od::scope auto& cx, auto n) {
  auto const bias = od::if_(
      n > i64{3}, [&] { return cx(od::sample<"bias">, ds::normal(2, 1)); }, [&] { return cx.lift(0.0); });
  auto const last = od::loop(n, cx.lift(0.0), [&](auto, auto before) {
    auto const x = cx(od::sample<"x">, ds::normal(bias + before, 0.5));
    (void)cx(od::sample<"y">, ds::normal(x, 0.7));
    return x;
  });
  return od::if_(
      last > 0.0, [&] { return cx(od::sample<"tail">, ds::normal(last, 1)); }, [&] { return last + 0.0; });
});

// 0 is no value of a choice, and is never requested.
inline constexpr auto tables = od::fn<"tables">([](od::scope auto& cx, auto n, auto const& table) {
  return od::sum(cx(od::tabulate, n, [&](auto) {
    auto const is_shifted = cx(od::sample<"is_shifted">, ds::bernoulli(0.5));
    auto const shift = od::if_(
        is_shifted, [&] { return cx(od::sample<"shift">, ds::normal(0, 1)); }, [&] { return cx.lift(0.0); });
    auto const k = cx(od::sample<"k">, ds::discrete_uniform(1, 3));
    return cx(od::sample<"y">, ds::normal(table[k - 1] + shift, 1));
  }));
});

} // namespace

TEST_CASE("appended choices are drawn after those that they depend on") {
  auto const m = ms::model(biased, i64{3});
  for (i64 seed = 1; seed <= 8; ++seed) {
    od::random_key const key(static_cast<std::uint64_t>(seed));
    auto const start = m.simulate(key);
    auto const check = [&]<class T>(T t) {
      ms::choice_map const before = t.as_trace().choices();
      // x[3] would be drawn given a bias that is not drawn yet.
      t.extend(m.with(i64{4}));
      CHECK_THROWS_WITH(t.propose(key.at(1)), Contains("while a trace grows the choice bias appears"));
      CHECK(t.as_trace().choices() == before);
      CHECK(grows_as_updated(t, m.with(i64{4}).arguments(), {{"bias", 1.0}, {"y[3]", 0.5}}, key.at(2)));
      CHECK(t.is_observed(t.core().site_at("bias"), 0));
      CHECK(grows_as_updated(t, m.with(i64{6}).arguments(), {{"bias", 1.0}, {"y[4]", 0.5}}, key.at(3)));
      CHECK(!t.is_observed(t.core().site_at("y"), 5));
      CHECK(t.observed() == ms::choice_map{{"bias", 1.0}, {"y[3]", 0.5}, {"y[4]", 0.5}});
    };
    check(ms::followed_trace(start));
    check(ms::reexecuted_trace(start));
    auto const of_tables = ms::model(tables, i64{1}, vec{1, 2, 3});
    ms::followed_trace t(of_tables.simulate(key));
    for (i64 n = 3; n < 9; n += 2)
      CHECK(grows_as_updated(t, of_tables.with(n, vec{1, 2, 3}).arguments(), {}, key.at(n)));
    // Of an array that is given for a branch, elements are read where the branch is taken.
    auto const of_jumps = ms::model(jumps, i64{1});
    ms::followed_trace j(of_jumps.simulate(key));
    vec const all{7, 8, 9, 10};
    ms::choice_map given{{"level", all}};
    if (j.is_made(j.core().site_at("level"), std::vector<i64>{0}))
      given.set("level[0]", j.get<double>("level[0]"));
    CHECK(grows_as_updated(j, of_jumps.with(i64{4}).arguments(), given, key.at(9)));
  }
  // An existing choice appears, by an argument or by another choice, which is set before or after.
  constexpr auto limits = od::fn<"limits">([](od::scope auto& cx, auto n, auto limit) {
    return od::loop(n, cx.lift(0.0), [&](auto, auto before) {
      auto const x = cx(od::sample<"x">, ds::normal(before, 1));
      return od::if_(
          x > limit, [&] { return cx(od::sample<"v">, ds::normal(100, 1)); }, [&] { return before + 0.0; });
    });
  });
  auto const of_limits = ms::model(limits, i64{1}, 0.0);
  auto const low = of_limits.assess({{"x[0]", -1.0}});
  auto const check_late = [&]<class T>(T l) {
    auto const refuses = [&](auto const& change) {
      change();
      CHECK_THROWS_WITH(
          l.propose(od::random_key(1)),
          "overdub: while a trace grows the choice v[0] appears, on which appended choices may depend: "
          "commit first what makes it appear, or change the trace by update");
      CHECK(l.as_trace().choices() == low.choices());
    };
    refuses([&] { l.extend(of_limits.with(i64{2}, -2.0)); });
    refuses([&] {
      l.set({{"x[0]", 0.5}});
      l.extend(of_limits.with(i64{2}, 0.0));
    });
    refuses([&] {
      l.extend(of_limits.with(i64{2}, 0.0));
      l.set({{"x[0]", 0.5}});
    });
    l.set({{"x[0]", 0.5}});
    (void)l.propose(od::random_key(1));
    l.commit();
    CHECK(grows_as_updated(l, of_limits.with(i64{3}, 0.0).arguments(), {}, od::random_key(1)));
  };
  check_late(ms::followed_trace(low));
  check_late(ms::reexecuted_trace(low));
  auto const filtered = ms::particle_filter( // its particles run the model then
      [&](std::size_t step) {
        return of_limits.with(static_cast<i64>(step + 1), -static_cast<double>(step));
      },
      [](std::size_t) { return ms::choice_map(); }, 4, {.particles = 20}, od::random_key(1));
  CHECK(std::ranges::any_of(filtered.values, [](ms::particle const& p) { return !p.is_incremental(); }));
  for (ms::particle const& p : filtered.values) CHECK(std::isfinite(p.score()));

  // Empty rows of rows.
  constexpr auto empty = od::fn<"empty">([](od::scope auto& cx, auto n, auto k) {
    return od::sum(cx(od::tabulate, n, [&](auto) {
      auto const mean = cx(od::sample<"mean">, ds::normal(0, 1));
      return od::sum(cx(od::tabulate, k, [&](auto) {
        return cx(od::loop, i64{2}, cx.lift(0.0), [&](auto, auto d) {
          return d + cx(od::sample<"d">, ds::normal(mean, 1));
        });
      }));
    }));
  });
  auto const of_empty = ms::model(empty, i64{2}, i64{0});
  ms::followed_trace e(of_empty.simulate(od::random_key(1)));
  CHECK(grows_as_updated(e, of_empty.with(i64{4}, i64{0}).arguments(), {}, od::random_key(2)));

  // Another choice is set, too, on which the appended ones depend.
  auto const of_jumps = ms::model(jumps, i64{3});
  ms::followed_trace t(of_jumps.assess(
      {{"jump", od::array<bool>{true, false, false}}, {"level[0]", 1.0}, {"y", vec{1, 1, 1}}}));
  t.extend(of_jumps.with(i64{4}), {{"jump[3]", false}});
  t.set({{"jump[2]", true}});
  CHECK_THROWS_WITH(
      t.propose(od::random_key(1)), Contains("while a trace grows the choice level[2] appears"));
}

TEST_CASE("propose repeats failed draws, and keeps successful ones without a key") {
  auto const m = ms::model(walk, i64{3}, 0.5);
  auto const start = m.simulate(od::random_key(1));
  ms::followed_trace t(start);
  t.extend(m.with(i64{4}, -1.0), {{"y[3]", 1.0}});
  CHECK(std::isnan(t.propose(od::random_key(2))));
  CHECK(std::isnan(t.propose(od::random_key(2))));
  t.set_argument(1, 0.5);
  double const weight = t.propose(od::random_key(2));
  auto const u = m.with(i64{4}, 0.5).update(start, {{"y[3]", 1.0}}, od::random_key(2));
  CHECK(weight == Approx(u.weight));
  CHECK(t.propose() == Approx(weight));
  auto const other = m.with(i64{4}, 0.5).update(start, {{"y[3]", 1.0}}, od::random_key(3));
  CHECK(t.propose(od::random_key(3)) == Approx(other.weight));
  CHECK(!t.keeps_structure());
  CHECK_THROWS_WITH(t.set({{"y[3]", 2.0}}), Contains("is observed, and does not move"));
  t.set({{"x[3]", 0.25}}); // set after all: no choice is drawn
  CHECK(
      t.propose() == Approx(
                         log_density(ds::normal(0.9 * start.get<double>("x[2]"), 0.5), 0.25) +
                         log_density(ds::normal(0.25, 0.7), 1.0)));
  t.rollback();
  CHECK(!t.has_observed(t.core().site_at("y")));
}

TEST_CASE("another key draws appended choices again, and a set choice does not count as drawn") {
  auto const m = ms::model(jumps, 3), longer = ms::model(jumps, 5);
  ms::choice_map const seen{{"y", vec{0, 1, 2}}}, more{{"y[3]", 0.5}, {"y[4]", 1.5}};
  for (i64 k = 0; k < 40; ++k) {
    ms::trace const start = m.generate(seen, od::random_key(7).at(k)).of;
    od::random_key const one = od::random_key(8).at(k), other = od::random_key(9).at(k);
    ms::followed_trace t(start, seen), fresh(start, seen);
    t.extend(longer, more), fresh.extend(longer, more);
    (void)t.propose(one);
    double const weight = fresh.propose(other);
    CHECK(t.propose(other) == Approx(weight).epsilon(1e-12).margin(1e-12));
    CHECK(t.propose() == Approx(weight).epsilon(1e-12).margin(1e-12));
    // A drawn choice is set, and the level that depends on it vanishes, or appears.
    t.set({{"jump[3]", k % 2 == 0}, {"jump[4]", false}});
    double const changed = t.propose(one);
    ms::followed_trace set(start, seen);
    set.extend(longer, more);
    set.set({{"jump[3]", k % 2 == 0}, {"jump[4]", false}});
    CHECK(changed == Approx(set.propose(one)).epsilon(1e-12).margin(1e-12));
    t.commit(), set.commit();
    CHECK(t.as_trace().choices() == set.as_trace().choices());
    CHECK(t.score() == Approx(t.as_trace().score()).epsilon(1e-12));
  }
}

TEST_CASE("appended rows have the length of the others, and arguments are those of the extension") {
  constexpr auto shares = od::fn<"shares">([](od::scope auto& cx, auto n, auto const& a) {
    return od::sum(cx(od::tabulate, n, [&](auto) { return cx(od::sample<"share">, ds::dirichlet(a))[0]; }));
  });
  auto const s = ms::model(shares, i64{1}, vec{1, 1});
  constexpr auto line = od::fn<"line">([](od::scope auto& cx, auto const& xs) {
    return od::sum(od::map([&](auto x) { return cx(od::sample<"y">, ds::normal(x, 1)); }, xs));
  });
  auto const l = ms::model(line, vec{1, 2, 3});
  auto const check = [&]<class T>(T of_shares, T of_line) {
    CHECK_THROWS_AS(of_shares.extend(s.with(i64{2}, vec{1, 1}), {{"share[1]", vec{1.0}}}), od::size_error);
    CHECK_THROWS_AS(
        of_shares.extend(s.with(i64{2}, vec{1, 1}), {{"share[1]", vec{0, 0, 1}}}), od::size_error);
    CHECK(of_shares.as_trace().choices().size() == 1);
    ms::trace const before = of_line.as_trace();
    of_line.set_argument_at(0, {0}, 5.0); // which the extension overwrites
    of_line.extend(l.with(vec{1, 2, 3, 4}), {{"y[3]", 0.5}});
    CHECK(
        of_line.propose() ==
        Approx(l.with(vec{1, 2, 3, 4}).update(before, {{"y[3]", 0.5}}, od::random_key(1)).weight));
    of_line.commit();
    CHECK(of_line.as_trace().arguments()[0] == od::datum(vec{1, 2, 3, 4}));
  };
  auto const a = s.simulate(od::random_key(1));
  auto const b = l.simulate(od::random_key(1));
  check(ms::followed_trace(a), ms::followed_trace(b));
  check(ms::reexecuted_trace(a), ms::reexecuted_trace(b));
}
