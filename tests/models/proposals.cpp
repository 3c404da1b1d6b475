// propose, Metropolis-Hastings steps whose proposal is a model, and incremental updates by address.
#include "catch.hpp"

#include <overdub/distributions.hpp>
#include <overdub/models/dynamic.hpp>
#include <overdub/models/metropolis_hastings.hpp>
#include <overdub/models/model.hpp>
#include <overdub/models/mutable_trace.hpp>

#include <cmath>
#include <string>

namespace {

namespace od = overdub;
namespace ds = overdub::distributions;
namespace ms = overdub::models;
using Catch::Matchers::Contains;
using od::i64;

// A count, a mean that depends on it, and an observation.
inline constexpr auto seen = od::fn<"seen">([](od::scope auto& cx) {
  auto const k = cx(od::sample<"k">, ds::binomial(i64{4}, 0.5));
  auto const x = cx(od::sample<"x">, ds::normal(od::convert<double>(k), 1));
  return cx(od::sample<"y">, ds::normal(x, 0.5));
});
// Asymmetric proposals of both, which may draw the present count.
inline constexpr auto near = od::fn<"near">([](od::scope auto& cx, auto k, auto x) {
  auto const p = 0.2 + 0.15 * od::convert<double>(k);
  (void)cx(od::sample<"k">, ds::binomial(i64{4}, p));
  return cx(od::sample<"x">, ds::normal(0.5 * x + 1, 0.9));
});
inline constexpr auto elsewhere =
    od::fn<"elsewhere">([](od::scope auto& cx) { return cx(od::sample<"z">, ds::normal(0, 1)); });
inline constexpr auto what_was_seen =
    od::fn<"what_was_seen">([](od::scope auto& cx) { return cx(od::sample<"y">, ds::normal(0, 1)); });

ms::choice_map const observed{{"y", 2.5}};

// The posterior probability of each count: y is normal with variance 1.25 around it.
double probability(i64 k) {
  double all = 0, of_k = 0;
  for (i64 j = 0; j <= 4; ++j) {
    double const d = 2.5 - static_cast<double>(j);
    double const choose[] = {1, 4, 6, 4, 1};
    double const w = choose[j] * std::exp(-d * d / 2.5);
    all += w;
    if (j == k) of_k = w;
  }
  return of_k / all;
}

template <class Model, class Proposal>
void check_posterior(Model const& m, Proposal const& proposal_of) {
  auto t = m.generate(observed, od::random_key(1)).of;
  std::size_t const steps = 20'000;
  double counts[5] = {}, accepted = 0;
  for (std::size_t k = 0; k < steps; ++k) {
    auto step = ms::metropolis_hastings(m, t, proposal_of, observed, od::random_key(2).at(k));
    accepted += step.accepted;
    t = std::move(step.of);
    counts[t.template get<i64>("k")] += 1;
  }
  CHECK(t.template get<double>("y") == 2.5);
  CHECK(accepted > 0.2 * static_cast<double>(steps));
  CHECK(accepted < 0.9 * static_cast<double>(steps));
  for (i64 k = 0; k <= 4; ++k) {
    INFO("count " << k);
    CHECK(counts[k] / static_cast<double>(steps) == Approx(probability(k)).margin(0.02));
  }
}

} // namespace

TEST_CASE("propose draws all choices, with their density and the result") {
  od::random_key const key(3);
  auto const staged = ms::model(seen), other = ms::model(seen);
  auto const direct = ms::dynamic_model(seen);
  auto const p = staged.propose(key), q = direct.propose(key);
  CHECK(p.choices == q.choices);
  CHECK(p.weight == Approx(q.weight).epsilon(1e-14));
  CHECK(p.result == q.result);
  CHECK(p.weight == other.assess(p.choices).score());
  CHECK(p.result == p.choices.get<double>("y"));
}

TEST_CASE("a step whose proposal is a model leaves the posterior invariant", "[statistics]") {
  auto const staged = ms::model(seen);
  auto const proposal = ms::model(near, i64{0}, 0.0);
  check_posterior(staged, [&](auto const& t) {
    return proposal.with(t.template get<i64>("k"), t.template get<double>("x"));
  });
  check_posterior(ms::dynamic_model(seen), [&](auto const& t) {
    return ms::dynamic_model(near, t.template get<i64>("k"), t.template get<double>("x"));
  });
}

TEST_CASE("proposals that do not fit the model are rejected") {
  auto const m = ms::model(seen);
  auto const t = m.generate(observed, od::random_key(1)).of;
  auto const step = [&](auto const& proposal) {
    return ms::metropolis_hastings(
        m, t, [&](auto const&) { return proposal; }, observed, od::random_key(2));
  };
  CHECK_THROWS_WITH(step(ms::model(elsewhere)), Contains("never samples \"z\""));
  CHECK_THROWS_WITH(
      step(ms::model(what_was_seen)), Contains("the proposal draws the choice y, which is observed"));
}

TEST_CASE("a step rejects a trace without the observations") {
  auto const step = [&](auto const& m, auto const& t, auto const& proposal, ms::choice_map const& data) {
    return ms::metropolis_hastings(
        m, t, [&](auto const&) { return proposal; }, data, od::random_key(2));
  };
  auto const staged = ms::model(seen);
  auto const direct = ms::dynamic_model(seen);
  auto const t = staged.generate(observed, od::random_key(1)).of;
  auto const d = direct.generate(observed, od::random_key(1)).of;
  auto const proposal = ms::model(near, i64{0}, 0.0);
  auto const direct_proposal = ms::dynamic_model(near, i64{0}, 0.0);
  char const* const another =
      "overdub: y is observed as 2.25, and the trace has 2.5: generate one of what is observed";
  CHECK_THROWS_WITH(step(staged, t, proposal, {{"y", 2.25}}), another);
  CHECK_THROWS_WITH(step(direct, d, direct_proposal, {{"y", 2.25}}), another);
  CHECK_THROWS_WITH(
      step(staged, t, proposal, {{"yy", 2.5}}), Contains("never samples \"yy\"; did you mean y?"));
  CHECK_THROWS_WITH(
      step(direct, d, direct_proposal, {{"yy", 2.5}}), Contains("no such choice; did you mean y?"));
  CHECK_NOTHROW(step(staged, t, proposal, {}));
  CHECK_NOTHROW(step(direct, d, direct_proposal, {}));
}

TEST_CASE("choices of an incremental trace are set by address, as in an update") {
  constexpr auto plate = od::fn<"plate">([](od::scope auto& cx, auto n) {
    auto const mu = cx(od::sample<"mu">, ds::normal(0, 1));
    auto const p = cx(od::sample<"p">, ds::dirichlet(od::array<double>{1, 2, 3}));
    return od::sum(cx(od::tabulate, n, [&](auto) {
      auto const z = cx(od::sample<"z">, ds::categorical(p));
      return cx(od::sample<"y">, ds::normal(mu + od::convert<double>(z), 1));
    }));
  });
  auto const m = ms::model(plate, i64{4});
  ms::choice_map const data{{"y", od::array<double>{1, 2, 3, 4}}};
  auto const start = m.generate(data, od::random_key(1)).of;
  ms::followed_trace t(start, data);
  ms::choice_map const changes{{"mu", 1}, {"z[2]", 2}, {"z[0]", 0}, {"p", od::array<double>{0.2, 0.3, 0.5}}};
  auto const updated = m.update(start, changes);
  t.set(changes);
  CHECK(t.propose() == Approx(updated.weight).epsilon(1e-13));
  CHECK(t.get<double>("mu") == start.get<double>("mu"));
  t.commit();
  CHECK(t.get<double>("mu") == 1);
  CHECK(t.get<i64>("z[2]") == 2);
  CHECK(t.get<od::array<i64>>("z") == updated.of.get<od::array<i64>>("z"));
  CHECK(t.get<od::array<double>>("p") == od::array<double>{0.2, 0.3, 0.5});
  t.set(updated.discard);
  t.commit();
  CHECK(t.as_trace().choices() == start.choices());
  CHECK(t.score() == Approx(start.score()).epsilon(1e-13));

  CHECK_THROWS_WITH(t.set({{"z[4]", 1}}), Contains("z[4] was given a value") && Contains("4 choices"));
  CHECK_THROWS_WITH(t.set({{"z", od::array<i64>{1, 2}}}), Contains("was given 2 values"));
  CHECK_THROWS_WITH(t.set({{"mo", 1.0}}), Contains("did you mean mu?"));
  CHECK_THROWS_WITH(t.set({{"z[1]", 0.5}}), Contains("was given a value of type f64"));
  CHECK_THROWS_WITH(t.set({{"y[1]", 0.5}}), Contains("is observed, and does not move"));
  CHECK_THROWS_WITH(t.get<i64>("z[-1]"), Contains("z[-1]"));
  CHECK_THROWS_WITH(t.get<i64>("zz"), Contains("never samples"));
  t.rollback();
  CHECK(t.score() == Approx(start.score()).epsilon(1e-13));
}

TEST_CASE("an element of an argument of two axes is updated") {
  constexpr auto grid = od::fn<"grid">([](od::scope auto& cx, auto const& rows) {
    auto const mu = cx(od::sample<"mu">, ds::normal(0, 1));
    return od::sum(od::map(
        [&](auto const& row) { return cx(od::sample<"y">, ds::normal(mu + od::sum(row), 1.0)); }, rows));
  });
  using vec = od::array<double>;
  od::array<vec> const rows{vec{1, 2}, vec{3, 4}, vec{5, 6}};
  auto const m = ms::model(grid, rows);
  auto const start = m.simulate(od::random_key(1));
  auto const u = m.with(od::update(rows, 1, vec{3, 4.5})).update(start, {});
  auto const check = [&]<class T>(T t) {
    t.set_argument_at(0, {1, 1}, 4.5);
    CHECK(t.propose() == Approx(u.weight).epsilon(1e-12));
    CHECK_THROWS_AS(t.set_argument_at(0, {1, 2}, 4.5), od::index_error);
    CHECK_THROWS_AS(t.set_argument_at(0, {1}, 4.5), ms::model_error);
  };
  check(ms::followed_trace(start));
  check(ms::reexecuted_trace(start));
}

TEST_CASE("incremental traces reject updates of arguments that determine the number of choices") {
  constexpr auto plates = od::fn<"plates">([](od::scope auto& cx, auto n, auto xs, auto counts, auto scales) {
    auto const scale = 1.0 + od::abs(od::sum(scales));
    auto const a = cx(od::tabulate, n, [&](auto) { return cx(od::sample<"a">, ds::normal(0, scale)); });
    auto const b = od::map([&](auto x) { return cx(od::sample<"b">, ds::normal(x, scale)); }, xs);
    auto const c =
        cx(od::tabulate, 2 * counts[1], [&](auto) { return cx(od::sample<"c">, ds::normal(0, 1)); });
    return od::sum(a) + od::sum(b) + od::sum(c);
  });
  using vec = od::array<double>;
  using ints = od::array<i64>;
  auto const m = ms::model(plates, i64{3}, vec{1, 2}, ints{5, 1}, vec{0.5, 0.25});
  auto const start = m.simulate(od::random_key(1));
  auto const check = [&]<class T>(T t) {
    auto const refuses = [&](char const* site, auto const& set) {
      CHECK_THROWS_WITH(set(), Contains("decides how many choices \"" + std::string(site) + "\" there are"));
    };
    refuses("a", [&] { t.set_argument(0, i64{4}); });
    refuses("b", [&] { t.set_argument(1, vec{1, 2, 3}); });
    refuses("c", [&] { t.set_argument(2, ints{5, 2}); });
    refuses("c", [&] { t.set_argument_at(2, {1}, i64{2}); });
    t.set_argument(0, i64{3}); // unchanged
    t.set_argument(1, vec{1, 2.5});
    t.set_argument(2, ints{5, 1});
    t.set_argument(3, vec{0.5, 0.75, 1}); // on which no size depends
    auto const u = m.with(i64{3}, vec{1, 2.5}, ints{5, 1}, vec{0.5, 0.75, 1}).update(start, {});
    CHECK(t.propose() == Approx(u.weight).epsilon(1e-12));
    t.set_argument_at(3, {2}, 2.0); // of the proposed array
    CHECK_THROWS_WITH(
        t.set_argument_at(3, {3}, 1.0), Contains("has 3 elements along this axis, and none at 3"));
    t.commit();
  };
  check(ms::followed_trace(start));
  check(ms::reexecuted_trace(start));
}

TEST_CASE("updates of arguments of an incremental trace have the weights of update") {
  constexpr auto noisy = od::fn<"noisy">([](od::scope auto& cx, auto scale, auto xs) {
    auto const far = cx(od::sample<"far">, ds::bernoulli(0.5));
    auto const mu = od::if_(
        far && scale > 1.0, [&] { return cx(od::sample<"wide">, ds::normal(0, 10)); },
        [&] { return scale - scale; });
    return od::sum(od::map([&](auto x) { return cx(od::sample<"y">, ds::normal(mu + x, scale)); }, xs));
  });
  using vec = od::array<double>;
  vec const xs{1, 2, 3, 4, 5, 6};
  auto const m = ms::model(noisy, 0.5, xs);
  auto const start = m.generate({{"far", true}}, od::random_key(1)).of;
  auto const check = [&]<class T>(T t) {
    vec const moved = od::update(od::update(xs, 1, 2.5), 4, 5.5);
    t.set_argument(1, moved);
    auto const u = m.with(0.5, moved).update(start, {});
    CHECK(t.propose() == Approx(u.weight).epsilon(1e-12));
    t.set_argument(1, xs); // overwritten
    CHECK(t.propose() == Approx(0).margin(1e-12));
    t.set_argument_at(1, {1}, 2.5);
    t.set_argument_at(1, {4}, 5.5);
    CHECK(t.propose() == Approx(u.weight).epsilon(1e-12));
    t.commit();
    t.set_argument(0, 0.75);
    CHECK(t.propose() == Approx(m.with(0.75, moved).update(u.of, {}).weight).epsilon(1e-12));
    t.commit();
    CHECK(t.as_trace().arguments()[0].template as<double>() == 0.75);
    t.set_argument(0, 2.0); // a choice appears
    CHECK_THROWS_WITH(t.commit(), Contains("makes the choice wide appear"));
    t.set_argument(0, 2.0);
    double const weight = t.propose(od::random_key(5));
    t.commit();
    CHECK(std::isfinite(weight));
    CHECK(t.as_trace().template get<double>("wide") == t.template get<double>("wide"));
    CHECK_THROWS_WITH(
        t.set_argument(2, 1.0), Contains("argument 2 of the model @noisy was set, and it has 2"));
    CHECK_THROWS_AS(t.set_argument(0, i64{1}), od::argument_error);
    CHECK_THROWS_AS(t.set_argument_at(1, {0}, i64{1}), od::argument_error);
    CHECK_THROWS_WITH(
        t.set_argument_at(1, {6}, 1.0),
        "overdub: argument 1 of the model @noisy has 6 elements along this axis, and none at 6");
    CHECK_THROWS_WITH(
        t.set_argument_at(0, {0}, 1.0),
        "overdub: argument 0 of the model @noisy has 0 axes, and an element was set by 1 indices; elements "
        "of up to three axes are set alone");
  };
  check(ms::followed_trace(start));
  check(ms::reexecuted_trace(start));
}
