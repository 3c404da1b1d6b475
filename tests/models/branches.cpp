// Branches: observations of conditional choices, branches that depend on arguments alone, and arrays in branches.
#include "catch.hpp"
#include "incremental/chains.hpp"
#include "models/model_posteriors.hpp"

#include <overdub/models/calibration.hpp>
#include <overdub/models/enumeration.hpp>
#include <overdub/models/mcmc.hpp>

#include <cmath>
#include <cstdint>
#include <vector>

namespace {

using namespace model_posteriors;
using Catch::Matchers::Contains;
using incremental_chains::compare, incremental_chains::compared;
using ms::gibbs, ms::random_walk;

od::random_key const key(1);

} // namespace

// ---- observations of conditional choices

namespace {

inline constexpr auto seen_sometimes = od::fn<"seen_sometimes">([](od::scope auto& cx, auto n) {
  return od::sum(cx(od::tabulate, n, [&](auto) {
    auto const z = cx(od::sample<"z">, ds::bernoulli(0.5));
    return od::if_(
        z, [&] { return cx(od::sample<"y">, ds::normal(0, 1)); }, [&] { return cx.lift(0.0); });
  }));
});
inline constexpr auto shares_in_branch = od::fn<"shares_in_branch">([](od::scope auto& cx, auto a) {
  auto const z = cx(od::sample<"z">, ds::bernoulli(0.5));
  return od::if_(
      z, [&] { return cx(od::sample<"w">, ds::dirichlet(a))[0]; }, [&] { return a[0] + 0.0; });
});
inline constexpr auto decided_by_data = od::fn<"decided_by_data">([](od::scope auto& cx, auto mean) {
  auto const x = cx(od::sample<"x">, ds::normal(mean, 1));
  auto const y = cx(od::sample<"y">, ds::bernoulli(0.5));
  return od::if_(
      y, [&] { return cx(od::sample<"w">, ds::normal(x, 1)); }, [&] { return x + 0.0; });
});

} // namespace

TEST_CASE("observations of choices that are not made are rejected, and initial traces are drawn until they "
          "are made") {
  auto const m = ms::model(seen_sometimes, i64{3});
  ms::trace const some = m.assess({{"z", od::array<bool>{true, false, true}}, {"y[0]", 1.0}, {"y[2]", 2.0}});
  CHECK_THROWS_WITH(
      ms::followed_trace(some, {{"y", vec{1, 5, 2}}}),
      "overdub: the choice y[1] is observed, and is not made in this trace: observe choices that are, or "
      "what "
      "decides on them, too");
  ms::followed_trace t(some, {{"y[0]", 1.0}});
  std::uint32_t const z = m.core()->site_at("z");
  t.set_bits(z, std::vector<i64>{0}, 0);
  CHECK_THROWS_WITH(t.commit(), Contains("make an observed choice vanish"));
  CHECK(t.bits(z, std::vector<i64>{0}) == 1);
  ms::trace const start = ms::initial_trace(m.core(), m.arguments(), {{"y[0]", 1.0}, {"y[2]", 2.0}}, key);
  CHECK((start.get<bool>("z[0]") && start.get<bool>("z[2]")));
  CHECK(ms::initial_trace(m.core(), m.arguments(), {{"y", vec{1, 2, 3}}}, key).get<bool>("z[1]"));
  CHECK_THROWS_WITH(
      ms::initial_trace(m.core(), m.arguments(), {{"y", vec{1, 2, 3}}, {"z[1]", false}}, key),
      Contains("in the last, y[1] is observed, and is not made"));
  CHECK_THROWS_WITH(
      ms::followed_trace(some, {{"y[5]", 1.0}}),
      "overdub: y[5] is observed, and the model makes 3 choices along this index");
  CHECK_THROWS_WITH(
      ms::initial_trace(m.core(), m.arguments(), {{"y[0]", 1.0}, {"z[0]", false}}, key),
      Contains("in the last, y[0] was given a value") && Contains("a branch that was not taken"));
}

TEST_CASE("arrays in branches have no incremental traces, and test_moves rejects data that determine the "
          "structure") {
  CHECK_THROWS_WITH(
      ms::followed_trace(ms::model(shares_in_branch, vec{1, 2, 3}).simulate(key)),
      "overdub: the choice \"w\" is an array in a branch, so that moves of other choices may make it appear "
      "or "
      "vanish; change such traces by update and regenerate");
  auto const d = ms::model(decided_by_data, 0.0);
  CHECK_THROWS_WITH(
      ms::test_moves(d, {"y"}, {}, key, random_walk("x")),
      Contains("data decide on which choices are made") ||
          Contains("data do not decide on which choices are made"));
  ms::number_row const row(d.simulate(key), {"x", "w"});
  CHECK(row.size() == 2);
}

// ---- branches that depend on arguments alone, and arrays

namespace {

inline constexpr auto by_flag = od::fn<"by_flag">([](od::scope auto& cx, auto flag, auto n) {
  auto const mu = cx(od::sample<"mu">, ds::normal(0, 1));
  return od::if_(
      flag,
      [&] {
        return od::sum(cx(od::tabulate, n, [&](auto) { return cx(od::sample<"x">, ds::normal(mu, 1)); }));
      },
      [&] { return mu + 0.0; });
});
inline constexpr auto either = od::fn<"either">([](od::scope auto& cx, auto flag, auto n) {
  auto const k = cx(od::sample<"k">, ds::poisson(2));
  auto const x = [&](auto) { return cx(od::sample<"x">, ds::normal(0, 1)); };
  return od::if_(
      flag, [&] { return od::sum(cx(od::tabulate, n, x)); }, [&] { return od::sum(cx(od::tabulate, k, x)); });
});
inline constexpr auto vectors = od::fn<"vectors">([](od::scope auto& cx, auto a, auto b) {
  auto const z = cx(od::sample<"z">, ds::bernoulli(0.5));
  return od::if_(
      z, [&] { return cx(od::sample<"w">, ds::dirichlet(a))[0]; },
      [&] { return cx(od::sample<"w">, ds::dirichlet(b))[0]; });
});

// The size of `a` is that of x, though the scale of its elements is chosen in a branch.
inline constexpr auto scaled_in_branch = od::fn<"scaled_in_branch">([](od::scope auto& cx, auto const& x) {
  auto const wild = cx(od::sample<"wild">, ds::bernoulli(0.5));
  auto const sd = od::if_(
      wild, [&] { return cx(od::sample<"sd">, ds::exponential(1.0)); }, [&] { return cx.lift(1.0); });
  auto const a = cx(
      od::map, [&](auto) { return cx(od::sample<"a">, ds::normal(0, sd)); }, x);
  return od::sum(cx(
      od::map, [&](auto ai, auto xi) { return cx(od::sample<"y">, ds::normal(ai + xi, 1.0)); }, a, x));
});

} // namespace

TEST_CASE("a map over an array of choices has a fixed number of choices, if the array has") {
  vec const x{0.5, -1.0, 2.0};
  auto const m = ms::model(fast(), scaled_in_branch, x);
  ms::choice_map const observed{{"y", vec{0.0, 1.0, 2.0}}};
  compared const c = compare(m, observed, 50, ms::from_prior("wild"), random_walk("a"));
  CHECK(c.transitions == 50);
}

TEST_CASE("sites in branches that depend on arguments alone have the same number of choices in all traces") {
  for (bool const flag : {true, false}) {
    auto const m = ms::model(fast(), by_flag, flag, i64{40});
    compared const c = compare(m, {}, 50, random_walk("mu"), random_walk("x"));
    CHECK(c.transitions == 50);
    CHECK(c.changed == 0);
    CHECK(ms::number_row(m.simulate(key), {"mu", "x"}).size() == (flag ? 41 : 1));
  }
  CHECK_THROWS_WITH(
      ms::followed_trace(ms::model(either, false, i64{3}).simulate(key)),
      Contains("how many choices \"x\" are made depends on other choices"));
}

TEST_CASE("traces with an array in both branches are incremental if it is observed: else its size may vary") {
  auto const m = ms::model(vectors, vec{1, 2, 3}, vec{4, 1, 1});
  vec const w{0.5, 0.25, 0.25};
  ms::enumeration const e = ms::enumerate(m, {{"w", w}});
  double const a = log_density(ds::dirichlet(vec{1, 2, 3}), w),
               b = log_density(ds::dirichlet(vec{4, 1, 1}), w);
  CHECK(e.probability("z", 1) == Approx(1 / (1 + std::exp(b - a))));
  inf::draws const d =
      inf::run_chains(ms::mcmc(m, {{"w", w}}, gibbs("z")), {.chains = 2, .warmup = 10, .draws = 5000}, key);
  check_frequency(d, "z", 1, 1 / (1 + std::exp(b - a)));
  CHECK_THROWS_WITH(ms::followed_trace(m.simulate(key)), Contains("\"w\" is an array in a branch"));
  CHECK_THROWS_WITH(ms::number_row(m.simulate(key), {"w"}), Contains("\"w\" is an array in a branch"));
}
