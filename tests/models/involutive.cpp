// Involutive moves: weights by hand, invariant distributions, including jumps between dimensions, and diagnostics.
#include "catch.hpp"

#include <overdub/distributions.hpp>
#include <overdub/models/involutive.hpp>
#include <overdub/models/involutive_move.hpp>
#include <overdub/models/mcmc.hpp>

#include <cmath>
#include <cstddef>
#include <numbers>
#include <string>
#include <vector>

namespace {

namespace od = overdub;
namespace ds = overdub::distributions;
namespace ms = overdub::models;
using Catch::Matchers::Contains;
using od::i64;

// Two observations with a common mean, or one mean each.
inline constexpr auto split = od::fn<"split">([](od::scope auto& cx) {
  auto const two = cx(od::sample<"two">, ds::bernoulli(0.5));
  auto const a = cx(od::sample<"a">, ds::normal(0, 2));
  auto const b = cx(
      od::if_, two, [&] { return cx(od::sample<"b">, ds::normal(0, 2)); }, [&] { return a; });
  (void)cx(od::sample<"y">, ds::normal(a, 1));
  return cx(od::sample<"z">, ds::normal(b, 1));
});
ms::choice_map const seen{{"y", 1.0}, {"z", 2.5}};

inline constexpr auto distance =
    od::fn<"distance">([](od::scope auto& cx) { return cx(od::sample<"u">, ds::normal(0, 1.5)); });
// The auxiliary choice: the distance of the two means, if there is one mean now.
constexpr auto distance_of = [](auto const& t) {
  using model = decltype(ms::dynamic_model(distance));
  struct maybe {
    bool is_drawn;
    auto simulate(od::random_key const& key) const {
      return is_drawn ? ms::dynamic_model(distance).simulate(key) : nothing();
    }
    auto assess(ms::choice_map const& all) const {
      return is_drawn ? ms::dynamic_model(distance).assess(all) : nothing();
    }
    static typename model::trace_type nothing() { return {{}, 0.0}; }
  };
  return maybe{!t.template get<bool>("two")};
};
// Splits one mean into two at a distance from it, and merges two into their average.
constexpr auto split_or_merge = [](auto const& t) {
  bool const two = t.model.boolean("two");
  t.model.write("two", !two);
  auto const a = t.model.real("a");
  if (two) {
    auto const b = t.model.real("b");
    t.model.write("a", 0.5 * (a + b));
    t.auxiliary.write("u", a - b);
  } else {
    auto const u = t.auxiliary.real("u");
    t.model.write("a", a + 0.5 * u);
    t.model.write("b", a - 0.5 * u);
  }
};

double log_normal(double x, double variance) {
  return -0.5 * x * x / variance - 0.5 * std::log(2 * std::numbers::pi * variance);
}
// The posterior probability of two means.
double probability_of_two() {
  double const two = log_normal(1.0, 5) + log_normal(2.5, 5);
  double const s = (1.0 + 2.5) / std::numbers::sqrt2, d = (1.0 - 2.5) / std::numbers::sqrt2;
  return 1 / (1 + std::exp(log_normal(s, 9) + log_normal(d, 1) - two));
}

template <class Model>
void check_posterior(Model const& m) {
  auto t = m.generate(seen, od::random_key(1)).of;
  std::size_t const steps = 40'000;
  std::size_t twos = 0, accepted = 0;
  for (std::size_t k = 0; k < steps; ++k) {
    auto jump = ms::involutive_move(
        m, t, distance_of, split_or_merge, seen, od::random_key(2).at(k), {.is_checked = k < 200});
    accepted += jump.accepted;
    t = std::move(jump.of);
    auto moved = m.regenerate(t, {"a", "b"}, od::random_key(3).at(k));
    if (std::log(od::random_generator(od::random_key(4).at(k)).uniform()) < moved.weight)
      t = std::move(moved.of);
    twos += t.template get<bool>("two");
  }
  double const found = static_cast<double>(twos) / static_cast<double>(steps);
  CHECK(accepted > steps / 4);
  CHECK(found == Approx(probability_of_two()).margin(0.02));
}

inline constexpr auto positive = od::fn<"positive">([](od::scope auto& cx) {
  auto const x = cx(od::sample<"x">, ds::gamma(3.0, 2.0));
  return cx(od::sample<"y">, ds::normal(x, 1));
});
inline constexpr auto step =
    od::fn<"step">([](od::scope auto& cx) { return cx(od::sample<"u">, ds::normal(0, 0.7)); });
constexpr auto step_of = [](auto const&) { return ms::dynamic_model(step); };

} // namespace

TEST_CASE("an involutive move has the weight that is computed by hand") {
  auto const m = ms::dynamic_model(positive);
  auto const scale = [](auto const& t) {
    auto const u = t.auxiliary.real("u");
    t.model.write("x", t.model.real("x") * od::exp(u));
    t.auxiliary.write("u", -u);
  };
  for (i64 k = 0; k < 50; ++k) {
    auto const t = m.generate({{"y", 1.0}}, od::random_key(5).at(k)).of;
    od::random_key const key = od::random_key(6).at(k);
    auto const made = ms::involutive_move(m, t, step_of, scale, {{"y", 1.0}}, key, {.is_checked = true});
    double const u = ms::dynamic_model(step).simulate(key.at("proposal")).get<double>("u");
    double const x = t.get<double>("x"), next = x * std::exp(u);
    double const by_hand =
        2 * std::log(next / x) - 2 * (next - x) - 0.5 * (1 - next) * (1 - next) + 0.5 * (1 - x) * (1 - x) + u;
    CHECK(made.weight == Approx(by_hand).epsilon(1e-12).margin(1e-12));
    CHECK(made.of.get<double>("x") == (made.accepted ? next : x));
  }
}

TEST_CASE("jumps between dimensions have the exact posterior, dynamic and staged", "[statistics]") {
  check_posterior(ms::dynamic_model(split));
  check_posterior(ms::model(split));
}

TEST_CASE("an involutive move leaves the prior invariant", "[statistics]") {
  auto const m = ms::dynamic_model(split);
  std::size_t const n = 30'000;
  double twos = 0, sum = 0, squares = 0;
  for (std::size_t k = 0; k < n; ++k) {
    auto const t = m.simulate(od::random_key(7).at(k));
    auto const next = ms::involutive_move(m, t, distance_of, split_or_merge, {}, od::random_key(8).at(k)).of;
    double const a = next.get<double>("a");
    twos += next.get<bool>("two");
    sum += a;
    squares += a * a;
  }
  auto const count = static_cast<double>(n);
  CHECK(std::abs(twos / count - 0.5) < 5 * 0.5 / std::sqrt(count));
  CHECK(std::abs(sum / count) < 5 * 2 / std::sqrt(count));
  CHECK(std::abs(squares / count - 4) < 5 * 4 * std::numbers::sqrt2 / std::sqrt(count));
}

TEST_CASE("the Jacobian of arrays, indexed choices, and more coordinates than one pass differentiates") {
  auto const m = ms::dynamic_model([](od::scope auto& cx) {
    cx(od::tabulate, i64{10}, [&](auto) { return cx(od::sample<"x">, ds::normal(0, 1)); });
    return cx(od::sample<"w">, ds::dirichlet(od::array<double>{1, 1, 1}));
  });
  auto const t = m.simulate(od::random_key(9));
  auto const exchange = [](auto const& c) {
    auto const at = [](i64 i) { return ms::address("x", {i}); };
    for (i64 i = 0; i < 5; ++i) {
      auto const a = c.model.real(at(i)), b = c.model.real(at(i + 5));
      c.model.write(at(i), b * od::exp(-0.5 * a * a) * std::exp(0.25));
      c.model.write(at(i + 5), a);
    }
  };
  // log |det| is the sum of log of d(first)/d(b): exp(0.25 - a*a/2); the weight has it, and no auxiliary choices.
  auto const none = [](auto const&) { return ms::no_auxiliary(); };
  auto const made = ms::involutive_move(m, t, none, exchange, {}, od::random_key(10));
  double expected = 0;
  for (i64 i = 0; i < 5; ++i) {
    double const a = t.get<double>({"x", {i}}), b = t.get<double>({"x", {i + 5}});
    double const c = b * std::exp(-0.5 * a * a) * std::exp(0.25);
    expected += 0.5 * (b * b - c * c) + 0.25 - 0.5 * a * a;
  }
  CHECK(made.weight == Approx(expected).epsilon(1e-12));
  CHECK_THROWS_WITH(
      ms::involutive_move(m, t, none, exchange, {}, od::random_key(10), {.is_checked = true}),
      Contains("the inverse does not restore"));
}

TEST_CASE("a simplex has the dimension of its density") {
  od::array<double> const alpha{1.5, 2.0, 3.0};
  auto const m = ms::dynamic_model(
      [](od::scope auto& cx, auto const& a) { return cx(od::sample<"w">, ds::dirichlet(a)); }, alpha);
  auto const shifts = [](auto const&) {
    return ms::dynamic_model([](od::scope auto& cx) {
      return cx(od::tabulate, i64{2}, [&](auto) { return cx(od::sample<"u">, ds::normal(0, 1)); });
    });
  };
  // Shifts the logarithms of the elements, and normalises.
  auto const shift = [](auto const& c) {
    auto w = c.model.reals("w");
    for (i64 i = 0; i < 2; ++i) {
      auto const u = c.auxiliary.real({"u", {i}});
      w[static_cast<std::size_t>(i)] = w[static_cast<std::size_t>(i)] * od::exp(u);
      c.auxiliary.write({"u", {i}}, -u);
    }
    auto const sum = w[0] + w[1] + w[2];
    for (auto& each : w) each = each / sum;
    c.model.write("w", w);
  };
  for (i64 k = 0; k < 20; ++k) {
    auto const t = m.simulate(od::random_key(15).at(k));
    od::random_key const key = od::random_key(16).at(k);
    auto const made = ms::involutive_move(m, t, shifts, shift, {}, key, {.is_checked = true});
    auto const u = shifts(t).simulate(key.at("proposal"));
    auto const w = t.get<od::array<double>>("w");
    double const f[] = {std::exp(u.get<double>("u[0]")), std::exp(u.get<double>("u[1]")), 1};
    double const sum = w[0] * f[0] + w[1] * f[1] + w[2];
    double by_hand = 0; // the determinant by the first two elements is the product of new over old
    for (i64 i = 0; i < 3; ++i) by_hand += alpha[i] * std::log(f[i] / sum);
    CHECK(made.weight == Approx(by_hand).epsilon(1e-10).margin(1e-10));
  }
}

TEST_CASE("copied choices do not enter the Jacobian, and unchanged ones are constants") {
  auto const m = ms::dynamic_model(positive);
  constexpr auto other = [](od::scope auto& cx) { return cx(od::sample<"u">, ds::gamma(3.0, 2.0)); };
  auto const swap = [](auto const& t) {
    (void)t.model.real("y"); // which is unchanged
    t.model.copy("x", t.auxiliary, "u");
    t.auxiliary.copy("u", t.model, "x");
  };
  auto const t = m.simulate(od::random_key(11));
  auto const auxiliary_of = [&](auto const&) { return ms::dynamic_model(other); };
  od::random_key const key(12);
  auto const made = ms::involutive_move(m, t, auxiliary_of, swap, {}, key, {.is_checked = true});
  double const x = t.get<double>("x"), y = t.get<double>("y");
  double const u = ms::dynamic_model(other).simulate(key.at("proposal")).get<double>("u");
  CHECK(made.weight == Approx(0.5 * ((y - x) * (y - x) - (y - u) * (y - u))).epsilon(1e-12));
  auto const twice = [](auto const& c) {
    c.model.copy("x", c.auxiliary, "u");
    c.model.copy("y", c.auxiliary, "u");
    c.auxiliary.copy("u", c.model, "x");
  };
  CHECK_THROWS_AS(ms::involutive_move(m, t, auxiliary_of, twice, {}, key), ms::model_error);
}

TEST_CASE("moves that are no bijections, or write observed choices, are rejected with a diagnostic") {
  auto const m = ms::dynamic_model(positive);
  ms::choice_map const y{{"y", 1.0}};
  auto const t = m.generate(y, od::random_key(1)).of;
  auto const with = [&](auto const& f) {
    (void)ms::involutive_move(m, t, step_of, f, y, od::random_key(2), {.is_checked = true});
  };
  CHECK_THROWS_WITH(
      with([](auto const& c) { c.auxiliary.write("u", 0.0); }),
      Contains("does not read the auxiliary choice u"));
  CHECK_THROWS_WITH(
      with([](auto const& c) {
        c.model.write("x", od::exp(c.auxiliary.real("u")));
        c.auxiliary.write("u", 0.0);
      }),
      Contains("does not read the choice x, whose value its inverse needs"));
  CHECK_THROWS_WITH(
      with([](auto const& c) { c.model.write("x", c.model.real("x") + c.auxiliary.real("u")); }),
      "overdub: the transform writes 1 continuous numbers, and reads 2 that it does not copy unchanged: it "
      "is no bijection");
  CHECK_THROWS_WITH(
      with([](auto const& c) { c.model.write("y", c.auxiliary.real("u")); }),
      "overdub: the transform writes the choice y, which is observed");
  CHECK_THROWS_WITH(
      with([](auto const& c) { c.model.write("x", c.model.real("z")); }),
      Contains("reads the choice z, which there is not"));
  CHECK_THROWS_WITH(
      with([](auto const& c) { c.model.write("x", c.model.reals("x").front()); }),
      Contains("reads the choice x as an array of numbers, and it is f64"));
  CHECK_THROWS_WITH(
      with([](auto const& c) {
        c.model.write("x", c.model.real("x"));
        c.model.write("x", c.model.real("x"));
      }),
      "overdub: the transform writes the choice x twice");
  CHECK_THROWS_WITH(
      with([](auto const& c) {
        c.model.write("x", c.model.real("x") + od::abs(c.auxiliary.real("u")) + 1.0);
        c.auxiliary.write("u", c.auxiliary.real("u"));
      }),
      Contains("overdub: the inverse does not restore the choice x: it was "));
  CHECK_THROWS_WITH(
      with([](auto const& c) {
        c.model.write("x", c.model.real("x"));
        c.auxiliary.write("v", c.auxiliary.real("u"));
      }),
      Contains("samples u, which was given no value"));
  auto const two = ms::model(split);
  auto const of_two = two.generate({{"two", false}}, od::random_key(3)).of;
  auto const forgets = [](auto const& c) { c.model.write("two", !c.model.boolean("two")); };
  CHECK_THROWS_WITH(
      ms::involutive_move(
          two, of_two, [](auto const&) { return ms::no_auxiliary(); }, forgets, {}, od::random_key(4)),
      "overdub: the model makes the choice b, which the transform does not write");
}

TEST_CASE("moves to a state of density 0 are rejected") {
  auto const m = ms::dynamic_model(positive);
  auto const negate = [](auto const& c) { c.model.write("x", -c.model.real("x")); };
  auto const t = m.simulate(od::random_key(13));
  auto const made = ms::involutive_move(
      m, t, [](auto const&) { return ms::no_auxiliary(); }, negate, {}, od::random_key(14));
  CHECK_FALSE(made.accepted);
  CHECK(made.of.get<double>("x") == t.get<double>("x"));
}

TEST_CASE("an incremental chain of involutive moves equals a re-executed one, draw for draw") {
  auto const run = [](auto const& maker) {
    auto chain = maker(0, od::random_key(17));
    std::vector<double> all;
    for (i64 k = 0; k < 300; ++k) {
      chain.transition(od::random_key(18).at(k));
      all.push_back(chain.state().template get<double>("a"));
      all.push_back(chain.state().score());
    }
    CHECK(chain.record().accepted > 60);
    return all;
  };
  auto const chains = ms::mcmc(
      ms::model(split), seen, ms::involutive(distance_of, split_or_merge), ms::random_walk("a", 1.0),
      ms::random_walk("b", 1.0));
  auto const followed = run(chains), again = run(chains.reexecuted());
  for (std::size_t k = 0; k < followed.size(); ++k) CHECK(followed[k] == Approx(again[k]).epsilon(1e-10));
}

TEST_CASE(
    "an involutive move of a chain has the weight of involutive_move, and does not change rejected traces") {
  auto const m = ms::model(split);
  for (i64 k = 0; k < 40; ++k) {
    auto const t = m.generate(seen, od::random_key(19).at(k)).of;
    od::random_key const key = od::random_key(20).at(k);
    auto const made = ms::involutive_move(m, t, distance_of, split_or_merge, seen, key);
    ms::followed_trace now(t, seen);
    ms::move_record record;
    ms::involutive move(distance_of, split_or_merge);
    move(now, key, record);
    CHECK((record.accepted == 1) == made.accepted);
    CHECK(now.score() == Approx(made.of.score()).epsilon(1e-12));
    CHECK(now.as_trace().choices() == made.of.choices());
  }
}

TEST_CASE("chains of involutive moves have the exact posterior", "[statistics]") {
  auto chain = ms::mcmc(
      ms::model(split), seen, ms::involutive(distance_of, split_or_merge), ms::random_walk("a", 1.5),
      ms::random_walk("b", 1.5))(0, od::random_key(21));
  std::size_t const steps = 40'000;
  std::size_t twos = 0;
  for (std::size_t k = 0; k < steps; ++k) {
    chain.transition(od::random_key(22).at(k));
    twos += chain.state().get<bool>("two");
  }
  CHECK(static_cast<double>(twos) / static_cast<double>(steps) == Approx(probability_of_two()).margin(0.02));
}

TEST_CASE("involutive moves of chains reject transforms that are no bijections, and roll back") {
  ms::followed_trace t(
      ms::model(split).generate({{"two", false}, {"y", 1.0}, {"z", 2.5}}, od::random_key(23)).of, seen);
  double const score = t.score();
  ms::move_record record;
  constexpr auto none = [](auto const&) { return ms::no_auxiliary(); };
  auto const with = [&](auto const& f) { ms::involutive(none, f)(t, od::random_key(24), record); };
  CHECK_THROWS_WITH(
      with([](auto const& c) { c.model.write("a", 1.0); }), Contains("does not read the choice a"));
  CHECK_THROWS_WITH(
      with([](auto const& c) { c.model.write("y", c.model.real("a")); }), Contains("\"y\" is observed"));
  CHECK_THROWS_AS(
      with([](auto const& c) {
        c.model.write("two", !c.model.boolean("two"));
        c.model.write("a", -c.model.real("a"));
      }),
      ms::model_error);
  CHECK_THROWS_WITH(
      with([](auto const& c) { c.model.write("b", c.model.real("a")); }),
      "overdub: the transform writes the choice b, which the model does not make then");
  CHECK(t.score() == score);
  CHECK(t.propose() == 0);
}
