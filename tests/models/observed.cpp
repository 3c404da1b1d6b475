// Observed choices, of a part of a site or all of it; plates whose size is a choice; binding-time analysis of observed data.
#include "catch.hpp"

#include <overdub/distributions.hpp>
#include <overdub/inference.hpp>
#include <overdub/models.hpp>
#include <overdub/overdub.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace {

namespace od = overdub;
namespace ds = overdub::distributions;
namespace md = overdub::models;
namespace inference = overdub::inference;
using Catch::Matchers::Contains;
using od::i64;
using numbers = od::array<double>;
od::random_key const key(11);

constexpr auto plate = od::fn<"plate">([](od::scope auto& cx, auto n) {
  auto const m = cx(od::sample<"m">, ds::normal(0, 1));
  return cx(od::tabulate, n, [&](auto) { return cx(od::sample<"x">, ds::normal(m, 1)); });
});
constexpr auto positive = od::fn<"positive">([](od::scope auto& cx, auto n) {
  auto const rate = cx(od::sample<"rate">, ds::gamma(2, 1));
  return cx(od::tabulate, n, [&](auto) { return cx(od::sample<"y">, ds::exponential(rate)); });
});
constexpr auto counted = od::fn<"counted">([](od::scope auto& cx) {
  auto const n = cx(od::sample<"n">, ds::discrete_uniform(1, 4));
  auto const b = cx(od::tabulate, n, [&](auto) { return cx(od::sample<"b">, ds::normal(0, 1)); });
  return cx(od::sample<"y">, ds::normal(od::sum(b), 1));
});
constexpr auto accepting = od::fn<"accepting">([](od::scope auto& cx) {
  auto const a = cx(od::sample<"accept">, ds::bernoulli(0.3));
  return cx(od::sample<"y">, ds::normal(od::select(a, 1.0, 0.0), 1));
});
constexpr auto ragged_support = od::fn<"ragged_support">([](od::scope auto& cx, auto const& means) {
  auto const n = cx(od::sample<"n">, ds::discrete_uniform(1, 3));
  auto const z = cx(od::sample<"z">, ds::discrete_uniform(0, n - 1));
  auto const known = od::slice(means, i64{0}, n);
  return cx(od::sample<"y">, ds::normal(known[z], 1));
});
// The static part of each iteration has nested regions.
constexpr auto nested_data = od::fn<"nested_data">([](od::scope auto& cx, auto const& xs) {
  auto const m = cx(od::sample<"m">, ds::normal(0, 1));
  return od::map(
      [&](auto x) {
        auto const v = od::tabulate(
            3 + od::convert<i64>(0.0 * x), [&](auto j) { return exp(x * od::convert<double>(j)); });
        auto const s = log(od::sum(v)) + sin(v[1]);
        auto const g = od::if_(
            x > 0.0, [&] { return lgamma(2.0 + x); }, [&] { return lgamma(3.0 - x); });
        auto const l = od::loop(i64{3}, x, [&](auto, auto a) { return sqrt(1.0 + a * a); });
        return cx(od::sample<"y">, ds::normal(m * s + g, 1.0 + l));
      },
      xs);
});

double log_normal(double x, double mean, double sd) {
  double const z = (x - mean) / sd;
  return -0.5 * z * z - std::log(sd) - 0.9189385332046728;
}

TEST_CASE("moves do not change observed choices, one of a plate or all") {
  auto const m = md::model(plate, i64{3});
  inference::run_settings const s{.chains = 2, .warmup = 100, .draws = 4000, .threads = 1};
  md::choice_map const one{{"x[0]", 5.0}};
  auto const d = inference::run_chains(md::mcmc(m, one, md::random_walk("x"), md::random_walk("m")), s, key);
  for (double const x : d.column("x[1]").values) REQUIRE(x == 5);
  CHECK(inference::summary(d)["m"].mean == Approx(2.5).margin(0.1));
  auto const e =
      inference::run_chains(md::mcmc(m, one, md::elliptical_slice("x"), md::elliptical_slice("m")), s, key);
  for (double const x : e.column("x[1]").values) REQUIRE(x == 5);
  CHECK(inference::summary(e)["m"].mean == Approx(2.5).margin(0.12));

  md::choice_map const all{{"x", numbers{4, 4, 4}}};
  CHECK_THROWS_WITH(
      inference::run_chains(md::mcmc(m, all, md::random_walk("x"), md::random_walk("m")), s, key),
      Contains("the choice \"x\" is observed, and does not move"));
  md::followed_trace t(m.generate(one, key).of, one);
  std::vector<i64> const first{0}, second{1};
  CHECK_THROWS_AS(t.set_bits(1, first, 0), md::model_error);
  t.set_bits(1, second, 0);
  CHECK(t.propose() != 0);
}

TEST_CASE("a proposal that throws is discarded") {
  auto const m = md::model(ragged_support, numbers{0, 1, 2});
  md::followed_trace t(m.generate({{"n", 1}, {"z", 0}, {"y", 0.5}}, key).of);
  std::uint32_t const z = t.core().site_at("z"), y = t.core().site_at("y");
  t.set_bits(z, {}, 7);
  CHECK_THROWS_AS(t.propose(), od::index_error);
  CHECK(t.bits(z, {}) == 0);
  t.set_bits(y, {}, 0);
  CHECK(t.propose() == Approx(0.125));
}

TEST_CASE("plates whose size is a choice have no incremental traces") {
  auto const m = md::model(counted);
  auto const t = m.generate({{"n", 2}, {"y", 1.0}}, key).of;
  CHECK_THROWS_WITH(
      md::followed_trace(t), Contains("how many choices \"b\" are made depends on other choices"));
  CHECK_THROWS_WITH(
      md::posterior(m, {{"n", 2}, {"y", 1.0}}),
      Contains("has a number of choices that depends on other choices"));
  CHECK_THROWS_WITH(
      md::enumerate(m, {{"b", numbers{0, 0}}, {"n", 2}, {"y", 1.0}}),
      Contains("the number of its choices depends on other choices"));
  auto const u = m.update(t, {{"n", 3}}, key); // one more choice
  CHECK(u.of.contains("b[2]"));
}

TEST_CASE("an address may equal a name that moves use in their keys") {
  auto const exact = md::enumerate(md::model(accepting), {{"y", 1.0}});
  auto const d = inference::run_chains(
      md::mcmc(md::model(accepting), {{"y", 1.0}}, md::from_prior("accept")),
      {.chains = 4, .warmup = 10, .draws = 20000, .threads = 1}, key);
  CHECK(inference::summary(d)["accept"].mean == Approx(exact.probability("accept", 1)).margin(0.012));
}

TEST_CASE("the support of a choice may depend on those before it") {
  auto const e = md::enumerate(md::model(ragged_support, numbers{0, 1, 2}), {{"y", 1.5}});
  CHECK(e.size() == 6);
  double total = 0, of_two = 0;
  for (int n = 1; n <= 3; ++n)
    for (int z = 0; z < n; ++z) {
      double const p = std::exp(log_normal(1.5, z, 1)) / (3 * n);
      total += p;
      if (n == 2) of_two += p;
    }
  CHECK(e.log_evidence() == Approx(std::log(total)).epsilon(1e-12));
  CHECK(e.probability("n", 2) == Approx(of_two / total).epsilon(1e-12));
  auto const one_by_one = md::enumerate(
      md::model(plate, i64{2}), {{"m", 0.0}, {"x[0]", 1.0}, {"x[1]", 1.0}}); // no choice is enumerated
  CHECK(one_by_one.size() == 1);
}

namespace {
// The support of a choice depends on a choice of the previous iteration, of a later site.
constexpr auto by_turns = od::fn<"by_turns">([](od::scope auto& cx, auto n) {
  return od::loop(n, cx.lift(i64{1}), [&](auto, auto s) {
    auto const a = cx(od::sample<"a">, ds::discrete_uniform(0, s));
    auto const w = cx(od::sample<"w">, ds::discrete_uniform(0, 1));
    return 5 * w + 0 * a;
  });
});
constexpr auto at_the_end = od::fn<"at_the_end">([](od::scope auto& cx, auto low) {
  return cx(od::sample<"k">, ds::discrete_uniform(low, std::numeric_limits<i64>::max()));
});
} // namespace

TEST_CASE("the support of a choice may depend on choices of the previous iteration") {
  auto const m = md::model(by_turns, 3);
  auto const prior = md::enumerate(m, {});
  CHECK(prior.size() == 2 * 7 * 7 * 2); // a[0] has two values; the others one or six, by w
  CHECK(prior.log_evidence() == Approx(0).margin(1e-12));
  CHECK(prior.probability("a[2]", 0) == Approx((1 + 1.0 / 6) / 2));
  auto const given = md::enumerate(m, {{"w[1]", 1}});
  CHECK(given.size() == 2 * 7 * 6 * 2);
  CHECK(given.log_evidence() == Approx(std::log(0.5)));
}

TEST_CASE("a support may extend to the largest integer") {
  auto const m = md::model(at_the_end, std::numeric_limits<i64>::max() - 1);
  auto const e = md::enumerate(m, {});
  CHECK(e.size() == 2);
  CHECK(e.probability("k", std::numeric_limits<i64>::max()) == Approx(0.5));
  md::followed_trace t(m.simulate(key));
  md::move_record record;
  for (i64 i = 0; i < 5; ++i) md::gibbs("k")(t, key.at(i), record);
  CHECK(record.proposed == 5);
}

TEST_CASE("gibbs leaves a state of density 0 for one of positive density") {
  auto const m = md::model(ragged_support, numbers{0, 1, 2});
  md::followed_trace t(m.generate({{"n", 3}, {"z", 2}, {"y", 0.5}}, key).of);
  t.set_bits(t.core().site_at("n"), {}, 1);
  CHECK_THROWS_AS(t.propose(), od::index_error);
  md::move_record record;
  md::gibbs("z")(t, key, record);
  CHECK(std::isfinite(t.score()));
}

TEST_CASE("the static part may have maps, branches and loops") {
  numbers const xs{-0.5, 0.3, 1.2}, ys{0.1, 2.0, 1.5};
  md::posterior p(md::model(nested_data, xs), {{"y", ys}});
  REQUIRE(p.dimension() == 1);
  for (double const at : {-1.0, 0.0, 0.7}) {
    double derivative = 0;
    double const value = p({&at, 1}, {&derivative, 1});
    double expected = log_normal(at, 0, 1), by_hand = -at;
    for (i64 i = 0; i < 3; ++i) {
      double const x = xs[i], s = std::log(1 + std::exp(x) + std::exp(2 * x)) + std::sin(std::exp(x));
      double const g = x > 0 ? std::lgamma(2 + x) : std::lgamma(3 - x);
      double l = x;
      for (int k = 0; k < 3; ++k) l = std::sqrt(1 + l * l);
      double const sd = 1 + l, z = (ys[i] - at * s - g) / sd;
      expected += log_normal(ys[i], at * s + g, sd);
      by_hand += z * s / sd;
    }
    CHECK(value == Approx(expected).epsilon(1e-12));
    CHECK(derivative == Approx(by_hand).epsilon(1e-12));
  }
}

TEST_CASE("rows have all choices of a site, and exact integers") {
  auto const m = md::model(plate, i64{3});
  auto const t = m.simulate(key);
  CHECK_THROWS_WITH(md::number_row(t, {"zz"}), Contains("never samples \"zz\""));
  CHECK_THROWS_WITH(md::number_row(t, {"x[0]"}), Contains("select \"x\""));
  auto const d = md::model(ragged_support, numbers{0, 1, 2}).simulate(key);
  md::number_row const row(d, {"n", "z"});
  CHECK_THROWS_WITH(row.choices(std::vector{0.5, 1.0}), Contains("is no such integer"));
  CHECK(row.choices(std::vector{2.0, 1.0}).get<i64>("n") == 2);
}

TEST_CASE("the number of programs for combinations of constraints is limited") {
  auto const m = md::model({.math = od::ir::math_mode::fast}, plate, i64{3}); // not shared with other tests
  auto const before = m.core()->programs();
  CHECK(before <= 1);
  for (std::size_t k = 0; k < 2 * md::maximum_programs; ++k)
    (void)m.generate({{"x[1]", 1.0}, {"m", 0.5}}, key);
  CHECK(m.core()->programs() <= before + 2);
}

} // namespace

TEST_CASE("mcmc rejects choices that are neither observed nor moved") {
  auto const m = md::model(plate, i64{3});
  md::choice_map const all{{"x", numbers{4, 4, 4}}}, some{{"x[0]", 5.0}, {"x[2]", 5.0}};
  CHECK_THROWS_WITH(
      md::mcmc(m, some, md::random_walk("x")),
      Contains("the choices \"m\" of the model @plate are neither observed nor moved"));
  CHECK_THROWS_WITH(
      inference::run_chains(md::mcmc(m, some, md::random_walk("m")), {.chains = 1}, key),
      Contains("the choices \"x\" of the model @plate are neither observed nor moved")); // x[1] is not
  CHECK_THROWS_WITH(
      md::mcmc(m, all, md::random_walk("m"), md::gibbs("mm")),
      Contains("never samples \"mm\"; did you mean m?"));
  CHECK_NOTHROW(md::mcmc(m, all, md::no_u_turn{"m"}));
  // The choices that a custom move updates are not known.
  CHECK_NOTHROW(md::mcmc(m, some, md::metropolis([](auto&, auto const&) { return 0.0; })));
}

TEST_CASE("observations have the values of the trace") {
  auto const m = md::model(plate, i64{3});
  md::choice_map const given{{"x", numbers{4, 5, 6}}};
  auto const t = m.generate(given, key).of;
  CHECK_NOTHROW(md::followed_trace(t, given));
  CHECK_NOTHROW(md::followed_trace(t, {{"x[1]", 5}}));
  CHECK_THROWS_WITH(
      md::followed_trace(t, {{"x[1]", 4.0}}), Contains("x[1] is observed as 4.0, and the trace has 5.0"));
  CHECK_THROWS_AS(md::followed_trace(t, {{"x", numbers{4, 5, 7}}}), md::model_error);
}

TEST_CASE("a chain of NUTS without an initial point names the choice whose density is 0 or NaN") {
  auto const m = md::model(positive, i64{3});
  CHECK_THROWS_WITH(
      inference::sample(md::posterior(m, {{"y", numbers{1, -1, 2}}}), {.chains = 1}),
      Contains("y[1] is -1.0, which its distribution never gives"));
}
