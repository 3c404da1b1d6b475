// Models of functions in contexts, and the generative function interface as contexts: their weights are those of models.
#include "catch.hpp"
#include "contexts/test_contexts.hpp"

#include <overdub/contexts/count.hpp>
#include <overdub/distributions.hpp>
#include <overdub/models/dynamic.hpp>
#include <overdub/models/dynamic_gradients.hpp>
#include <overdub/models/generating.hpp>
#include <overdub/models/model.hpp>

#include <cmath>

namespace {

namespace od = overdub;
namespace ds = overdub::distributions;
namespace ms = overdub::models;
using namespace test_contexts;

inline constexpr auto curve = od::fn<"curve">([](auto x) { return sin(x) + 0.5 * x; });
inline constexpr auto seen = od::fn<"seen">([](od::scope auto& cx, auto sd) {
  auto const mu = cx(od::sample<"mu">, ds::normal(0.0, sd));
  auto const y = cx(od::sample<"y">, ds::normal(curve(mu), 1.0));
  return mu + y;
});
// The same model, with the rule's rewriting of the sine by hand.
inline constexpr auto seen_doubled = od::fn<"seen_doubled">([](od::scope auto& cx, auto sd) {
  auto const mu = cx(od::sample<"mu">, ds::normal(0.0, sd));
  auto const y = cx(od::sample<"y">, ds::normal(2.0 * sin(mu) + 0.5 * mu, 1.0));
  return mu + y;
});
// The number of choices depends on the values of choices. `model` rejects such a function.
inline constexpr auto flips = od::fn<"flips">([](od::scope auto& cx, auto p) -> decltype(p) {
  if (cx(od::sample<"heads">, ds::bernoulli(p))) return cx.lift(0.0);
  return 1.0 + cx(od::within<"next">(cx.function()), p);
});

} // namespace

TEST_CASE("a model in a context is the model of the rewritten function") {
  auto const in = ms::model(doubling{}, seen, 2.0);
  auto const by_hand = ms::model(seen_doubled, 2.0);
  auto const direct = ms::dynamic_model(doubling{}, seen, 2.0);
  for (int seed = 0; seed < 5; ++seed) {
    od::random_key const key(static_cast<std::uint64_t>(seed));
    auto const t = in.simulate(key);
    auto const h = by_hand.simulate(key);
    CHECK(t.score() == h.score());
    CHECK(in.result(t) == by_hand.result(h));
    CHECK(direct.simulate(key).score() == Approx(t.score()).epsilon(1e-13));
    CHECK(in.generate({{"y", 1.0}}, key).weight == by_hand.generate({{"y", 1.0}}, key).weight);
    CHECK(in.update(t, {{"mu", 0.25}}).weight == by_hand.update(h, {{"mu", 0.25}}).weight);
  }
}

TEST_CASE("contexts with different fingerprints make different models") {
  repeating r(2);
  auto const twice = ms::model(r, seen, 2.0);
  r.times = 3;
  auto const thrice = ms::model(od::compose(r), seen, 2.0);
  ms::choice_map const all{{"mu", 0.5}, {"y", 1.0}};
  auto const score = [](double times) {
    double const z = 1.0 - times * std::sin(0.5) - 0.25;
    return -0.5 * z * z - 0.5 * 0.0625 - std::log(2.0) - std::log(2 * M_PI);
  };
  CHECK(twice.assess(all).score() == Approx(score(2)));
  CHECK(thrice.assess(all).score() == Approx(score(3)));
  CHECK(&*twice.core() != &*thrice.core());
}

TEST_CASE(
    "a model runs the passes of its contexts after optimisation, and its operations read the current fields") {
  auto const turned = ms::model(turning_last{}, seen, 2.0);
  ms::choice_map const all{{"mu", 0.5}, {"y", 1.0}};
  auto const score = [](double mean) {
    double const z = 1.0 - mean - 0.25;
    return -0.5 * z * z - 0.5 * 0.0625 - std::log(2.0) - std::log(2 * M_PI);
  };
  CHECK(turned.assess(all).score() == Approx(score(std::cos(0.5))));
  scaling s;
  auto const m = ms::model(s, seen, 2.0);
  auto const t = m.assess(all);
  CHECK(t.score() == Approx(score(3.0 * std::sin(0.5))));
  s.by = 2.0;
  CHECK(m.assess(all).score() == Approx(score(2.0 * std::sin(0.5))));
  CHECK(
      m.simulate(od::random_key(1)).score() ==
      ms::model(seen_doubled, 2.0).simulate(od::random_key(1)).score());
  auto const updated = m.update(t, {});
  CHECK(updated.weight == Approx(score(2.0 * std::sin(0.5)) - score(3.0 * std::sin(0.5))));
  CHECK(
      m.generate({{"y", 1.0}}, od::random_key(2)).weight ==
      ms::model(seen_doubled, 2.0).generate({{"y", 1.0}}, od::random_key(2)).weight);
  CHECK(std::get<0>(m.argument_gradients(m.assess(all))) == Approx(0.25 / 8.0 - 0.5));
}

TEST_CASE("hooks observe the calls of a dynamic model in a context") {
  od::contexts::count_of<od::sin_t> sines;
  auto const m = ms::dynamic_model(od::compose(doubling{}, sines), seen, 2.0);
  auto const t = m.simulate(od::random_key(3));
  CHECK(sines(od::sin) == 1);
  (void)m.update(t, {{"mu", 0.5}});
  CHECK(sines(od::sin) == 2);
  CHECK(ms::choice_gradients(m, m.assess({{"mu", 0.5}, {"y", 1.0}}), {"y"}).size() == 1);
}

TEST_CASE("the generative contexts give the results, choices and weights of the operations of models") {
  for (int seed = 0; seed < 20; ++seed) {
    od::random_key const key(static_cast<std::uint64_t>(seed));
    auto const m = ms::dynamic_model(flips, 0.4);
    auto const t = m.simulate(key);

    od::contexts::count calls;
    ms::simulating s(key);
    CHECK(od::run(od::compose(calls, s), flips, 0.4) == t.result());
    CHECK(s.made().choices(ms::selection::all()) == t.choices());
    CHECK(s.made().score() == t.score());
    CHECK(calls.functions > 0);

    ms::assessing a(t.choices());
    CHECK(od::run(a, flips, 0.4) == t.result());
    CHECK(a.score() == t.score());

    ms::choice_map const given{{"heads", false}};
    ms::generating g(given, key);
    auto const w = m.generate(given, key);
    CHECK(od::run(g, flips, 0.4) == w.of.result());
    CHECK(g.weight() == w.weight);

    ms::updating u(t.made(), {{"heads", true}});
    auto const changed = m.update(t, {{"heads", true}});
    CHECK(od::run(u, flips, 0.4) == changed.of.result());
    CHECK(u.change().weight == changed.weight);
    CHECK(u.change().discard == changed.discard);

    ms::regenerating r(t.made(), {"heads"}, key.at("again"));
    auto const redrawn = m.regenerate(t, {"heads"}, key.at("again"));
    CHECK(od::run(r, flips, 0.4) == redrawn.of.result());
    CHECK(r.change().weight == redrawn.weight);
    CHECK(r.change().discard == redrawn.discard);
  }
}

TEST_CASE("rules of contexts that enclose the generative contexts change their weights") {
  ms::assessing a({{"mu", 0.5}, {"y", 1.0}});
  (void)od::run(od::compose(doubling{}, a), seen, 2.0);
  CHECK(a.score() == Approx(ms::model(seen_doubled, 2.0).assess({{"mu", 0.5}, {"y", 1.0}}).score()));
}

TEST_CASE("generative contexts reject what models reject") {
  ms::assessing some({{"mu", 0.5}});
  CHECK_THROWS_WITH(
      od::run(some, seen, 2.0), Catch::Contains("the model samples y, which was given no value"));
  ms::assessing more({{"mu", 0.5}, {"y", 1.0}, {"z", 1.0}});
  (void)od::run(more, seen, 2.0);
  CHECK_THROWS_AS(more.score(), ms::unmade_error);
  ms::generating g({{"z", 1.0}}, od::random_key(1));
  (void)od::run(g, seen, 2.0);
  CHECK_THROWS_AS(g.weight(), ms::unmade_error);
}
