// Moves of choices: an incremental chain equals a re-executed one; and both have the posterior of models that can be enumerated, or that
// have a closed form.
#include "catch.hpp"
#include "incremental/chains.hpp"
#include "models/model_posteriors.hpp"
#include "models/random_models.hpp"

#include <overdub/models/enumeration.hpp>
#include <overdub/models/mcmc.hpp>
#include <overdub/models/posterior.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

namespace {

using namespace model_posteriors;
using Catch::Matchers::Contains;
using incremental_chains::any_move, incremental_chains::compare, incremental_chains::compared,
    incremental_chains::model_of_seed;
using incremental_updates::programs;

od::random_key const key(1);

// ---- models

inline constexpr auto trend = od::fn<"trend">([](od::scope auto& cx, auto n) {
  auto const phi = cx(od::sample<"phi">, ds::uniform(-1, 1));
  auto const sd = cx(od::sample<"sd">, ds::half_normal(1));
  return od::loop(n, cx.lift(0.0), [&](auto, auto before) {
    auto const x = cx(od::sample<"x">, ds::normal(phi * before, sd));
    (void)cx(od::sample<"y">, ds::normal(x, 0.5));
    return x;
  });
});

inline constexpr auto regression =
    od::fn<"regression">([](od::scope auto& cx, auto of, auto xs, auto groups) {
      auto const mu = cx(od::sample<"mu">, ds::normal(0, 5));
      auto const tau = cx(od::sample<"tau">, ds::half_normal(2));
      auto const slope = cx(od::sample<"slope">, ds::normal(0, 1));
      auto const sd = cx(od::sample<"sd">, ds::exponential(1));
      auto const a = cx(od::tabulate, groups, [&](auto) { return cx(od::sample<"a">, ds::normal(mu, tau)); });
      return od::sum(od::map(
          [&](auto g, auto x) { return cx(od::sample<"y">, ds::normal(a[g] + slope * x, sd)); }, of, xs));
    });

// The index of an element that is read is a choice, which depends on another choice.
inline constexpr auto pointers = od::fn<"pointers">([](od::scope auto& cx, auto weights, auto n) {
  auto const theta = od::map([&](auto w) { return cx(od::sample<"theta">, ds::normal(0, 3 + w)); }, weights);
  auto const g = od::map([&](auto) { return cx(od::sample<"g">, ds::categorical(weights)); }, weights);
  return od::sum(cx(od::tabulate, n, [&](auto) {
    auto const k = cx(od::sample<"k">, ds::categorical(weights));
    auto const burst = cx(od::sample<"burst">, ds::poisson(1.5));
    return cx(od::sample<"y">, ds::normal(theta[g[k]], 1.0 + od::convert<double>(burst)));
  }));
});

inline constexpr auto nested = od::fn<"nested">([](od::scope auto& cx, auto n, auto m) {
  auto const mu = cx(od::sample<"mu">, ds::normal(0, 2));
  return od::sum(cx(od::tabulate, n, [&](auto) {
    auto const level = cx(od::sample<"level">, ds::normal(mu, 1));
    return od::sum(cx(od::tabulate, m, [&](auto) {
      auto const odd = cx(od::sample<"odd">, ds::bernoulli(0.3));
      return cx(
          od::sample<"y">,
          ds::normal(
              level, od::if_(
                         odd, [&] { return level * level + 1; }, [&] { return level - level + 0.5; })));
    }));
  }));
});

// Swaps two choices of a site: several changes in one proposal.
auto exchange(char const* address) {
  return ms::metropolis([at = std::vector<i64>(), other = std::vector<i64>(),
                         address](auto& t, od::random_key const& k) mutable {
    od::random_generator g(k);
    std::uint32_t const s = t.core().site_at(address);
    auto const n = static_cast<double>(t.size(s));
    t.indices_of(s, static_cast<std::size_t>(g.uniform() * n), at);
    t.indices_of(s, static_cast<std::size_t>(g.uniform() * n), other);
    std::uint64_t const a = t.bits(s, at), b = t.bits(s, other);
    t.set_bits(s, at, b);
    t.set_bits(s, other, a);
    return 0.0;
  });
}

template <class F>
std::vector<double> drawn(i64 n, F const& f) {
  std::vector<double> all;
  for (i64 i = 0; i < n; ++i) all.push_back(f(i));
  return all;
}
vec of(std::vector<double> const& x) { return vec::copy_of(x); }

matrix const rows{vec{0.7, 0.2, 0.1}, vec{0.1, 0.6, 0.3}, vec{0.25, 0.25, 0.5}};
vec const means{-1.0, 0.5, 2.0};

} // namespace

TEST_CASE("an incremental chain equals a re-executed one, draw for draw") {
  std::uint64_t const count = programs(1'700); // of each of six models
  using ms::from_prior, ms::gibbs, ms::random_walk;
  compared all;
  auto const add = [&](compared const& c) {
    CHECK(c.transitions == count);
    CHECK((c.accepted > c.proposed / 20 && c.accepted < c.proposed)); // the test has both
    all.ties += c.ties;
    all.transitions += c.transitions;
  };
  add(compare(
      ms::model(fast(), mixture, vec{0.5, 0.3, 0.2}, vec{-3, 0, 3}, i64{12}),
      {{"y", of(drawn(12, [](i64 i) { return 3.0 * std::sin(static_cast<double>(i * i)); }))}}, count,
      gibbs("z"), random_walk("mu", 0.5), from_prior("z"), exchange("z"), from_prior("mu")));
  add(compare(
      ms::model(fast(), hidden, rows, means, i64{15}),
      {{"y", of(drawn(15, [](i64 i) { return std::cos(static_cast<double>(i)) + 0.5; }))}}, count, gibbs("z"),
      from_prior("z"), exchange("z")));
  add(compare(
      ms::model(fast(), trend, i64{12}),
      {{"y", of(drawn(12, [](i64 i) { return std::sin(0.4 * static_cast<double>(i)); }))}}, count,
      random_walk("x", 0.5), random_walk("phi", 0.3), from_prior("sd"), random_walk("sd", 0.3),
      from_prior("x")));
  add(compare(
      ms::model(fast(), regression, indices{0, 0, 1, 1, 2, 2, 2, 3}, vec{0, 1, 0, 2, 1, -1, 0.5, 3}, i64{4}),
      {{"y", vec{0.2, 1.4, 2.1, 4.4, -0.3, -2.2, -1, 5.2}}}, count, random_walk("a", 0.5), from_prior("mu"),
      random_walk("mu", 0.7), random_walk("tau", 0.7), random_walk("slope", 0.3), random_walk("sd", 0.3),
      from_prior("tau"), exchange("a")));
  add(compare(
      ms::model(fast(), pointers, vec{0.4, 0.3, 0.2, 0.1}, i64{8}),
      {{"y", of(drawn(8, [](i64 i) { return 2.0 * std::cos(static_cast<double>(3 * i)); }))}}, count,
      gibbs("k"), gibbs("g"), from_prior("burst"), random_walk("theta", 1), from_prior("g"),
      exchange("theta")));
  add(compare(
      ms::model(fast(), nested, i64{3}, i64{4}),
      {{"y", matrix{vec{0.1, 0.4, 2.5, -0.2}, vec{1, 1.2, 0.8, 5}, vec{-1, -1.1, -0.7, -6}}}}, count,
      gibbs("odd"), random_walk("level", 0.5), random_walk("mu"), from_prior("odd"), from_prior("level"),
      exchange("level")));
  INFO(all.ties << " ties");
  CHECK(all.ties <= 1 + all.transitions / 100'000);
}

TEST_CASE("incremental chains of random models equal re-executed ones") {
  std::uint64_t const count = programs(200);
  std::uint64_t accepted = 0, ties = 0;
  for (std::uint64_t seed = 1; seed <= count; ++seed) {
    INFO("model " << seed);
    compared const c = compare(model_of_seed(seed), {}, 10, any_move{});
    CHECK(c.transitions == 10);
    accepted += c.accepted;
    ties += c.ties;
  }
  CHECK(accepted > 20 * count);
  CHECK(ties <= 1 + count / 10'000);
}

TEST_CASE("incremental chains that adapt equal re-executed ones") {
  auto const m = ms::model(fast(), regression, indices{0, 0, 1, 1, 1}, vec{0, 1, 0, 2, 1}, i64{2});
  auto const chains = ms::mcmc(
      m, {{"y", vec{0.2, 1.4, 2.1, 4.4, 3}}}, ms::random_walk("a"), ms::random_walk("mu"),
      ms::random_walk("tau"), ms::random_walk("slope"), ms::random_walk("sd"));
  inf::run_settings const s{.chains = 2, .warmup = 100, .draws = 100, .threads = 1};
  inf::draws const a = inf::run_chains(chains, s, key), b = inf::run_chains(chains.reexecuted(), s, key);
  CHECK(a.names() == std::vector<std::string>{"mu", "tau", "slope", "sd", "a.1", "a.2"});
  for (std::string const& name : a.names()) CHECK(a.column(name).values == b.column(name).values);
}

// ---- enumeration against sums by hand

namespace {

// Russell and Norvig's lawn, with probabilities of 1 given rain and sprinkler, and of 0 given neither.
inline constexpr auto lawn = od::fn<"lawn">([](od::scope auto& cx) {
  auto const chance = [](auto yes, double of_true, double of_false) {
    return od::if_(
        yes, [&] { return of_true + 0.0 * of_true; }, [&] { return of_false + 0.0 * of_false; });
  };
  auto const cloudy = cx(od::sample<"cloudy">, ds::bernoulli(0.5));
  auto const sprinkler = cx(od::sample<"sprinkler">, ds::bernoulli(chance(cloudy, 0.1, 0.5)));
  auto const rain = cx(od::sample<"rain">, ds::bernoulli(chance(cloudy, 0.8, 0.2)));
  auto const wet = od::if_(
      sprinkler, [&] { return chance(rain, 1.0, 0.9); }, [&] { return chance(rain, 0.9, 0.0); });
  return cx(od::sample<"wet">, ds::bernoulli(wet));
});

vec const seen{-0.8, 0.1, 2.3, 1.7, -1.2};

void check_chain(
    auto const& m, ms::choice_map const& observed, inf::run_settings const& settings, auto const&... moves) {
  ms::enumeration const exact = ms::enumerate(m, observed);
  inf::draws const d = inf::run_chains(ms::mcmc(m, observed, moves...), settings, key);
  for (auto const& [at, values] : exact.marginals()) {
    std::string const name = at.indices.empty() ? at.site : at.site + "." + std::to_string(at.indices[0] + 1);
    for (auto const& [value, probability] : values)
      check_frequency(d, name, static_cast<double>(value), probability);
  }
}

} // namespace

TEST_CASE("enumeration agrees with the forward-backward algorithm") {
  auto const m = ms::model(fast(), hidden, rows, means, i64{5});
  ms::enumeration const e = ms::enumerate(m, {{"y", seen}});
  smoothed const by_hand = forward_backward(rows, {-1, 0.5, 2}, {-0.8, 0.1, 2.3, 1.7, -1.2});
  CHECK(e.size() == 243);
  CHECK(e.log_evidence() == Approx(by_hand.log_evidence).epsilon(1e-12));
  for (i64 t = 0; t < 5; ++t)
    for (i64 k = 0; k < 3; ++k)
      CHECK(
          e.probability({"z", {t}}, k) ==
          Approx(by_hand.states[static_cast<std::size_t>(t)][static_cast<std::size_t>(k)]).epsilon(1e-12));
  CHECK(e.probability("z[0]", 7) == 0);
}

TEST_CASE("impossible assignments have probability 0, and later ones are enumerated") {
  double total = 0, rainy = 0, sprinkled = 0;
  std::size_t possible = 0;
  for (bool c : {false, true})
    for (bool s : {false, true})
      for (bool r : {false, true}) {
        double const wet = s && r ? 1 : s || r ? 0.9 : 0;
        double const p = 0.5 * (c ? (s ? 0.1 : 0.9) : 0.5) * (c == r ? 0.8 : 0.2) * wet;
        total += p;
        rainy += r * p;
        sprinkled += s * p;
        possible += p > 0;
      }
  auto const m = ms::model(fast(), lawn);
  ms::enumeration const e = ms::enumerate(m, {{"wet", true}});
  CHECK(e.size() == possible);
  CHECK(e.log_evidence() == Approx(std::log(total)).epsilon(1e-12));
  CHECK(e.probability("rain", 1) == Approx(rainy / total).epsilon(1e-12));
  CHECK(e.probability("sprinkler", 1) == Approx(sprinkled / total).epsilon(1e-12));
  CHECK(ms::enumerate(m, {}).log_evidence() == Approx(0).margin(1e-12));
  CHECK(ms::enumerate(m, {}).size() == 8 + 4); // dry, but for sprinkler and rain; and wet
  CHECK(ms::enumerate(m, {{"wet", true}, {"sprinkler", false}, {"rain", false}}).size() == 0);
  CHECK(
      ms::enumerate(m, {{"wet", true}, {"sprinkler", false}, {"rain", false}}).log_evidence() ==
      -std::numeric_limits<double>::infinity());
}

TEST_CASE("single choices of a plate can be observed, and the others are enumerated") {
  auto const m = ms::model(fast(), hidden, rows, means, i64{5});
  ms::choice_map observed{{"y", seen}, {"z[1]", i64{2}}};
  ms::enumeration const e = ms::enumerate(m, observed), all = ms::enumerate(m, {{"y", seen}});
  CHECK(e.size() == 81);
  CHECK(e.log_evidence() == Approx(all.log_evidence() + std::log(all.probability("z[1]", 2))).epsilon(1e-12));
  CHECK_THROWS_WITH(e.probability("z[1]", 2), "overdub: no choice at the address z[1] was enumerated");
}

// ---- moves against known posteriors

TEST_CASE("gibbs and from_prior have the marginals of a hidden Markov model") {
  auto const m = ms::model(fast(), hidden, rows, means, i64{5});
  inf::run_settings const s{.chains = 4, .warmup = 50, .draws = 2500, .threads = 1};
  check_chain(m, {{"y", seen}}, s, ms::gibbs("z"));
  check_chain(m, {{"y", seen}}, s, ms::from_prior("z"));
  check_chain(m, {{"y", seen}}, s, ms::from_prior("z"), exchange("z"));
}

TEST_CASE("gibbs and from_prior have the marginals of a mixture whose components are known") {
  auto const m = ms::model(fast(), mixture, vec{0.5, 0.3, 0.2}, vec{-1, 0, 1}, i64{4});
  ms::choice_map const observed{{"mu", vec{-1, 0.1, 1.2}}, {"y", vec{-0.7, 0, 0.4, 2}}};
  inf::run_settings const s{.chains = 4, .warmup = 20, .draws = 2000, .threads = 1};
  check_chain(m, observed, s, ms::gibbs("z"));
  check_chain(m, observed, s, ms::from_prior("z"));
}

TEST_CASE("gibbs and from_prior have the marginals of a Bayesian network with impossible states") {
  auto const m = ms::model(fast(), lawn);
  inf::run_settings const s{.chains = 4, .warmup = 20, .draws = 4000, .threads = 1};
  check_chain(m, {{"wet", true}}, s, ms::gibbs("cloudy"), ms::gibbs("sprinkler"), ms::gibbs("rain"));
  check_chain(
      m, {{"wet", true}}, s, ms::from_prior("cloudy"), ms::from_prior("sprinkler"), ms::from_prior("rain"));
}

namespace {

inline constexpr auto measured = od::fn<"measured">([](od::scope auto& cx, auto n) {
  auto const mu = cx(od::sample<"mu">, ds::normal(1, 2));
  return od::sum(cx(od::tabulate, n, [&](auto) { return cx(od::sample<"y">, ds::normal(mu, 1.5)); }));
});
inline constexpr auto counted = od::fn<"counted">([](od::scope auto& cx) {
  auto const rate = cx(od::sample<"rate">, ds::gamma(3, 1));
  return cx(od::sample<"count">, ds::poisson(rate));
});

} // namespace

TEST_CASE("random_walk and from_prior have the posterior of a normal mean") {
  auto const m = ms::model(fast(), measured, i64{4});
  ms::choice_map const observed{{"y", vec{2.1, 0.7, 3.4, 1.9}}};
  double const precision = 1 / 4.0 + 4 / 2.25, mean = (1 / 4.0 + 8.1 / 2.25) / precision;
  double const sd = 1 / std::sqrt(precision), z = 1.6448536269514722; // the normal quantile of 0.95
  known const exact{mean, sd, mean - z * sd, mean + z * sd};
  inf::run_settings const s{.chains = 4, .warmup = 200, .draws = 5000, .threads = 1};
  check_draws(inf::run_chains(ms::mcmc(m, observed, ms::random_walk("mu")), s, key), "mu", exact);
  check_draws(inf::run_chains(ms::mcmc(m, observed, ms::from_prior("mu")), s, key), "mu", exact);
}

TEST_CASE("random_walk adapts to an acceptance of 44 % in the warm-up, and not after") {
  auto const m = ms::model(fast(), measured, i64{4});
  ms::choice_map const observed{{"y", vec{2.1, 0.7, 3.4, 1.9}}};
  ms::trace const start = m.generate(observed, key).of;
  for (double const first : {0.01, 100.0}) {
    ms::chain_of_moves<ms::followed_trace, ms::random_walk> chain(
        start, observed, {"mu"}, ms::random_walk("mu", first));
    for (std::uint64_t t = 1; t <= 2000; ++t) {
      chain.transition(key.transition(t));
      chain.adapt(t - 1, 2000);
    }
    ms::move_record const warm = chain.record();
    for (std::uint64_t t = 2001; t <= 6000; ++t) chain.transition(key.transition(t));
    auto const accepted = static_cast<double>(chain.record().accepted - warm.accepted);
    CHECK(accepted / 4000 == Approx(0.44).margin(0.06));
  }
}

TEST_CASE("metropolis accepts an asymmetric proposal with its correction") {
  // Gamma(3, 1) and 7 counts: the posterior is Gamma(10, 2). A factor is proposed, so that log q(back) - log q(there) is the logarithm of
  // it.
  auto const m = ms::model(fast(), counted);
  auto const factor = ms::metropolis([](auto& t, od::random_key const& k) {
    od::random_generator g(k);
    std::uint32_t const s = t.core().site_at("rate");
    double const by = 2 * g.uniform() - 1;
    t.set_bits(s, {}, std::bit_cast<std::uint64_t>(t.number(s, {}) * std::exp(by)));
    return by;
  });
  inf::draws const d = inf::run_chains(
      ms::mcmc(m, {{"count", i64{7}}}, factor), {.chains = 4, .warmup = 100, .draws = 5000, .threads = 1},
      key);
  // Quantiles of half a chi-square of 20 degrees, over 2.
  check_draws(d, "rate", {5, std::sqrt(10.0) / 2, 10.850811394182585 / 4, 31.410432844230918 / 4});
}

// ---- executed work

TEST_CASE("a proposal executes the operations that its choice affects, and none if no value changes") {
  auto const m = ms::model(trend, i64{100});
  ms::followed_trace t(
      m.generate({{"y", of(drawn(100, [](i64 i) { return 0.1 * static_cast<double>(i); }))}}, key).of);
  std::uint32_t const x = t.core().site_at("x"), phi = t.core().site_at("phi");
  std::vector<i64> const at{7};
  std::uint64_t const now = t.bits(x, at);

  t.set_bits(x, at, std::bit_cast<std::uint64_t>(0.25));
  double const weight = t.propose();
  CHECK_THAT(t.program().explain(), Contains("= loop: from the first affected iteration on\n"));
  double const before = t.score();
  t.commit();
  CHECK(t.score() == Approx(before + weight).epsilon(1e-12));
  CHECK(t.score() == Approx(t.as_trace().score()).epsilon(1e-12));

  t.set_bits(x, at, now);
  t.propose();
  t.rollback();
  CHECK(t.program().explain() == "nothing ran\n");
  CHECK(t.number(x, at) == 0.25);

  t.set_bits(x, at, t.bits(x, at)); // it has this value already
  CHECK(t.propose() == 0);
  CHECK(t.program().explain() == "nothing ran\n");
  t.commit();

  t.set_bits(phi, {}, std::bit_cast<std::uint64_t>(0.5)); // affects all
  t.propose();
  CHECK_THAT(
      t.program().explain(),
      Contains("= loop: recomputed in full, since a value that all iterations use changed\n"));
  t.rollback();

  ms::followed_trace points(ms::model(mixture, vec{0.5, 0.3, 0.2}, vec{-3, 0, 3}, i64{100}).simulate(key));
  std::uint32_t const z = points.core().site_at("z"), mu = points.core().site_at("mu");
  points.set_bits(z, at, (points.bits(z, at) + 1) % 3);
  points.propose();
  CHECK_THAT(
      points.program().explain(),
      Contains("= map: one iteration\n") && Contains("= reduce: updated by the difference\n"));
  points.rollback();
  points.set_bits(mu, std::vector<i64>{1}, std::bit_cast<std::uint64_t>(0.25)); // affects its points
  points.propose();
  CHECK_THAT(
      points.program().explain(),
      Contains("= map: a list of iterations\n") && !Contains("recomputed in full"));
}

// ---- diagnostics

namespace {

inline constexpr auto branching = od::fn<"branching">([](od::scope auto& cx, auto p) {
  auto const z = cx(od::sample<"z">, ds::bernoulli(p));
  return od::if_(
      z, [&] { return cx(od::sample<"x">, ds::normal(0, 1)); },
      [&] { return cx(od::sample<"x">, ds::normal(5, 2)) + cx(od::sample<"more">, ds::normal(0, 1)); });
});
inline constexpr auto shares = od::fn<"shares">([](od::scope auto& cx, auto a) {
  auto const p = cx(od::sample<"p">, ds::dirichlet(a));
  return cx(od::sample<"z">, ds::categorical(p));
});
inline constexpr auto shifted = od::fn<"shifted">([](od::scope auto& cx, auto by) {
  auto const k = cx(od::sample<"k">, ds::discrete_uniform(0, 3));
  return cx(od::sample<"count">, ds::poisson(od::convert<double>(k) + by));
});

inline constexpr auto deep = od::fn<"deep">([](od::scope auto& cx, auto n) {
  auto const sums = [&](auto const& inner) { return od::sum(cx(od::tabulate, n, inner)); };
  return sums([&](auto) {
    return sums([&](auto) {
      return sums([&](auto) { return sums([&](auto) { return cx(od::sample<"x">, ds::normal(0, 1)); }); });
    });
  });
});

template <class Move>
void move_once(ms::trace const& start, Move move) {
  ms::followed_trace t(start);
  ms::move_record record;
  move(t, key, record);
}

} // namespace

TEST_CASE("moves reject unsupported choices, and name a supported move") {
  ms::trace const t = ms::model(pointers, vec{0.5, 0.5}, i64{2}).simulate(key);
  CHECK_THROWS_WITH(
      move_once(t, ms::gibbs("theta")),
      "overdub: the choice \"theta\" is not discrete, and has more values than can be tried; move it by "
      "random_walk or from_prior");
  CHECK_THROWS_WITH(
      move_once(t, ms::gibbs("burst")),
      "overdub: the choice \"burst\" has infinitely many values, which cannot be tried one by one: "
      "observe it, or move it in another way");
  CHECK_THROWS_WITH(
      move_once(t, ms::random_walk("k")),
      "overdub: the choice \"k\" is no f64, which random_walk moves; move it by gibbs or from_prior");
  CHECK_THROWS_WITH(move_once(t, ms::from_prior("Theta")), Contains("Theta"));
  ms::trace const p = ms::model(shares, vec{1, 2, 3}).simulate(key);
  CHECK_THROWS_WITH(
      move_once(p, ms::from_prior("p")),
      "overdub: the choice \"p\" is an array, which from_prior does not draw anew");
  CHECK_THROWS_WITH(
      move_once(p, ms::random_walk("p")), "overdub: the choice \"p\" is an array, and random_walk moves "
                                          "numbers; move it by no_u_turn or metropolis");
}

TEST_CASE("gibbs rejects more than maximum_values values") {
  constexpr auto heads =
      od::fn<"heads">([](od::scope auto& cx, auto n) { return cx(od::sample<"k">, ds::binomial(n, 0.5)); });
  CHECK_THROWS_WITH(
      move_once(ms::model(heads, std::numeric_limits<i64>::max()).simulate(key), ms::gibbs("k")),
      "overdub: the choice \"k\" has values from 0 to 9223372036854775807, more than the 1048576 that gibbs "
      "tries one by one; move it by from_prior or metropolis");
  CHECK_NOTHROW(move_once(ms::model(heads, i64{10'000}).simulate(key), ms::gibbs("k")));
}

TEST_CASE("gibbs computes the bounds of each choice, if they differ between choices") {
  constexpr auto same = od::fn<"same">([](od::scope auto& cx, auto const& weights, auto const& n) {
    return od::sum(cx(
        od::map, [&](auto const&) { return cx(od::sample<"z">, ds::categorical(weights)); }, od::iota(n)));
  });
  constexpr auto different =
      od::fn<"different">([](od::scope auto& cx, auto const& weights, auto const& high) {
        auto const first = cx(od::sample<"first">, ds::categorical(weights));
        return od::sum(cx(
            od::map, [&](auto const& h) { return cx(od::sample<"z">, ds::discrete_uniform(0, h + first)); },
            high));
      });
  ms::followed_trace one(ms::model(same, od::array<double>{0.2, 0.3, 0.5}, i64{3}).simulate(key));
  CHECK(one.core().is_same_for_all_choices(0, ms::site_query::bounds));
  CHECK_FALSE(one.core().is_same_for_all_choices(0, ms::site_query::density));
  auto const m = ms::model(different, od::array<double>{0.0, 1.0}, od::array<i64>{0, 9, 2});
  ms::followed_trace t(m.simulate(key));
  std::uint32_t const z = t.core().site_at("z");
  CHECK(t.core().is_same_for_all_choices(t.core().site_at("first"), ms::site_query::bounds));
  CHECK_FALSE(t.core().is_same_for_all_choices(z, ms::site_query::bounds));
  ms::move_record made;
  i64 most[3] = {};
  for (std::uint64_t k = 0; k < 300; ++k) {
    ms::gibbs("z")(t, key.transition(k), made);
    for (i64 i = 0; i < 3; ++i) most[i] = std::max(most[i], static_cast<i64>(t.bits(z, std::array{i})));
  }
  CHECK(most[0] == 1);
  CHECK(most[1] == 10);
  CHECK(most[2] == 3);
}

TEST_CASE("the function of metropolis proposes, and cannot commit") {
  ms::trace const t = ms::model(pointers, vec{0.5, 0.5}, i64{2}).simulate(key);
  auto const committing = ms::metropolis([](auto& of, od::random_key const&) {
    of.set({{"theta[0]", 0.5}});
    of.commit();
    return 0.0;
  });
  CHECK_THROWS_WITH(
      move_once(t, committing), "overdub: the function of metropolis commits its proposal; it sets choices, "
                                "and the move decides whether they "
                                "stay");
  ms::followed_trace f(t);
  ms::move_record made;
  auto refused = committing;
  CHECK_THROWS_AS(refused(f, key, made), ms::model_error);
  f.rollback();
  CHECK(f.score() == t.score());
  auto looking = ms::metropolis([](auto& of, od::random_key const& k) {
    of.set({{"theta[0]", 0.5}});
    (void)of.propose(k);
    of.rollback();
    return 0.0;
  });
  CHECK_NOTHROW(looking(f, key, made));
  f.commit(); // which is allowed elsewhere
  CHECK(f.score() == t.score());
}

TEST_CASE("single choices with four indices can be updated in re-executed traces alone") {
  ms::trace const t = ms::model(deep, i64{2}).simulate(key);
  CHECK_THROWS_WITH(
      move_once(t, ms::random_walk("x")),
      "overdub: the choice \"x\" is nested in 4 maps and loops, and a choice is updated alone in up to 3; "
      "change all of the site, or run the whole model");
  ms::reexecuted_trace again(t);
  ms::move_record record;
  ms::random_walk("x", 0.1)(again, key, record);
  CHECK((record.proposed == 16 && record.accepted > 8));
}

TEST_CASE("models with choices in branches are not enumerated, and have no posterior target") {
  auto const m = ms::model(branching, 0.5);
  CHECK_THROWS_WITH(
      ms::enumerate(m, {{"x", 1.0}, {"more", 0.0}, {"z", false}}),
      Contains("\"more\" is nested in a branch"));
  CHECK_THROWS_WITH(
      ms::posterior(m, {{"z", true}}),
      "overdub: the choice \"more\" is nested in a branch, so that the number of choices may change: "
      "Hamiltonian Monte Carlo moves among as many numbers as there are at first");
  CHECK_THROWS_WITH(
      m.core()->code_of(m.core()->site_at("x"), ms::site_query::draw),
      "overdub: the choice \"x\" has one address in two branches, so that its distribution is not known from "
      "its address; give each branch an address of its own to move it alone");
}

TEST_CASE("a posterior target rejects discrete choices, and observations of a part of a site") {
  auto const m = ms::model(mixture, vec{0.5, 0.5}, vec{-1, 1}, i64{3});
  CHECK_THROWS_WITH(
      ms::posterior(m, {{"y", vec{1, 2, 3}}}),
      "overdub: the choice \"z\" is discrete, and has no gradient: observe it, sum over its values, or move "
      "it by gibbs");
  CHECK_THROWS_WITH(
      ms::posterior(m, {{"z", indices{0, 1, 0}}, {"y[1]", 2.0}}),
      "overdub: the choice \"y\" is observed in part: sample what is observed and what is not at addresses "
      "of "
      "their own");
  CHECK_THROWS_WITH(
      m.core()->code_of(m.core()->site_at("z"), ms::site_query::moments),
      "overdub: the choice \"z\" has no normal prior, which elliptical slice sampling requires; use another "
      "move");
}

TEST_CASE("chains begin at a trace of finite density, or report why there is none") {
  auto const m = ms::model(lawn);
  CHECK(std::isfinite(ms::initial_trace(m.core(), m.arguments(), {{"wet", true}}, key).score()));
  CHECK_THROWS_WITH(
      ms::initial_trace(m.core(), m.arguments(), {{"wet", true}, {"rain", false}, {"sprinkler", false}}, key),
      "overdub: of 100 traces of @lawn with these observations none has a finite density; in the last, "
      "wet is true, which its distribution never gives");
}

TEST_CASE("enumeration rejects continuous choices, infinite supports, too many assignments, and invalid "
          "parameters") {
  auto const m = ms::model(mixture, vec{0.5, 0.5}, vec{-1, 1}, i64{4});
  ms::choice_map observed{{"y", vec{1, 2, 3, 4}}};
  CHECK_THROWS_WITH(
      ms::enumerate(m, observed),
      "overdub: the choice \"mu\" is continuous, and cannot be enumerated; observe it");
  observed.set("mu", vec{0, 1});
  CHECK(ms::enumerate(m, observed, 16).size() == 16);
  CHECK_THROWS_WITH(
      ms::enumerate(m, observed, 15),
      "overdub: there are more than 15 assignments of the choices: enumerate fewer, or sample");
  CHECK_THROWS_WITH(
      ms::enumerate(ms::model(shifted, 1.0), {}), Contains("\"count\" has infinitely many values"));
  CHECK_THROWS_WITH(
      ms::enumerate(ms::model(shifted, -2.0), {{"count", i64{1}}}),
      "overdub: an assignment has a probability that is NaN: a parameter of a distribution is not allowed "
      "there");
}

TEST_CASE("random_walk rejects a standard deviation that is not positive") {
  for (double const sd : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()})
    CHECK_THROWS_AS(ms::random_walk("mu", sd), ms::model_error);
  CHECK_THROWS_WITH(
      ms::random_walk("mu", 0), "overdub: random_walk(\"mu\", 0): a step has a standard deviation above 0");
}
