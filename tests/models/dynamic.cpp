// Dynamic models: their draws and weights are those of staged models; and choices in recursion, `while_` and loops of C++.
#include "catch.hpp"
#include "models/example_models.hpp"

#include <overdub/contexts/count.hpp>
#include <overdub/distributions.hpp>
#include <overdub/models/resimulation.hpp>

#include <cmath>
#include <vector>

namespace {

namespace od = overdub;
namespace ds = overdub::distributions;
namespace ms = overdub::models;
using od::i64;

} // namespace

// Their laws, and that their draws and weights are those of staged models, are tested in laws.cpp.
TEST_CASE("arrays and integers constrain a dynamic model as a staged one, and an update flips a branch") {
  od::array<double> const xs{1.0, 2.0, 0.5};
  auto const direct = ms::dynamic_model(example_models::everything, i64{3}, xs);
  auto const staged = ms::model(example_models::everything, i64{3}, xs);
  for (int seed = 0; seed < 50; ++seed) {
    od::random_key const key(static_cast<std::uint64_t>(seed));
    ms::choice_map const given{{"mean", 0.5}, {"y", od::array<double>{1, 2, 3}}, {"step[1]", -1}};
    auto const dg = direct.generate(given, key);
    auto const sg = staged.generate(given, key);
    CHECK(dg.weight == Approx(sg.weight).epsilon(1e-12));
    CHECK(dg.of.score() == Approx(sg.of.score()).epsilon(1e-12));
    CHECK(dg.of.get<od::array<double>>("y") == od::array<double>{1, 2, 3});

    auto const d = direct.simulate(key);
    bool const far = !d.get<bool>("first/is_far[1]");
    ms::choice_map const changes{{"step[0]", 0.25}, {"first/is_far[1]", far}};
    auto const du = direct.update(d, changes, key.at("update"));
    auto const su = staged.update(staged.simulate(key), changes, key.at("update"));
    CHECK(du.weight == Approx(su.weight).margin(1e-10));
    CHECK(du.discard == su.discard);
    CHECK(du.of.contains(far ? "first/wide[1]" : "first/narrow[1]"));
    CHECK(!du.of.contains(far ? "first/narrow[1]" : "first/wide[1]"));
    CHECK(direct.with(3, xs).regenerate(d, {}, key).weight == 0);
    ms::selection const some{"mean", "first/is_far", "step[2]"};
    CHECK(
        direct.regenerate(d, some, key.at("regenerate")).weight ==
        Approx(staged.regenerate(staged.simulate(key), some, key.at("regenerate")).weight).margin(1e-10));
    CHECK(d.project({"mean", "y"}) == Approx(project(staged.simulate(key), {"mean", "y"})).epsilon(1e-12));
  }
}

namespace {

// Flips until the first heads: each recursive call has a choice, whose address extends the caller's.
inline constexpr auto flips = od::fn<"flips">([](od::scope auto& cx, auto p) -> decltype(p) {
  if (cx(od::sample<"heads">, ds::bernoulli(p))) return cx.lift(0.0);
  return 1.0 + cx(od::within<"next">(cx.function()), p);
});
// The same by while_, and by a reduction's function.
inline constexpr auto flips_in_while = od::fn<"flips_in_while">([](od::scope auto& cx, auto p) {
  return cx(
      od::while_, cx.lift(0.0), [&](auto) { return !cx(od::sample<"heads">, ds::bernoulli(p)); },
      [](auto n) { return n + 1.0; });
});
inline constexpr auto noisy_sum = od::fn<"noisy_sum">([](od::scope auto& cx, auto const& xs) {
  return od::reduce([&](auto a, auto b) { return cx(od::sample<"partial">, ds::normal(a + b, 1)); }, xs);
});
// Observed with noise.
inline constexpr auto seen = od::fn<"seen">([](od::scope auto& cx, auto p) {
  auto const n = cx(od::within<"at">(flips), p);
  return cx(od::sample<"y">, ds::normal(n, 0.8));
});

// The posterior probability of n failures, given y, an observation with noise.
double probability(double n, double y) {
  double total = 0;
  auto const weight = [&](double k) {
    return std::pow(0.6, k) * 0.4 * std::exp(-0.5 * (y - k) * (y - k) / 0.64);
  };
  for (int k = 0; k < 60; ++k) total += weight(k);
  return weight(n) / total;
}

} // namespace

TEST_CASE("recursion extends addresses in each call, while_ in each iteration") {
  auto const m = ms::dynamic_model(flips, 0.4);
  auto const in_while = ms::dynamic_model(flips_in_while, 0.4);
  double sum = 0;
  int const count = 2000;
  for (int seed = 0; seed < count; ++seed) {
    auto const t = m.simulate(od::random_key(static_cast<std::uint64_t>(seed)));
    double const n = t.result();
    CHECK(t.size() == static_cast<std::size_t>(n) + 1);
    CHECK(t.score() == Approx(n * std::log(0.6) + std::log(0.4)));
    std::string prefix;
    for (int k = 0; k < static_cast<int>(n); ++k) prefix += "next/";
    CHECK(t.get<bool>(prefix + "heads"));
    sum += n;

    auto const w = in_while.simulate(od::random_key(static_cast<std::uint64_t>(seed)));
    CHECK(w.get<bool>("heads[" + std::to_string(static_cast<int>(w.result())) + "]"));
    CHECK(w.score() == Approx(w.result() * std::log(0.6) + std::log(0.4)));
  }
  CHECK(sum / count == Approx(1.5).margin(0.15));
}

TEST_CASE("the function of a reduction makes a choice each time that it is called") {
  auto const m = ms::dynamic_model(noisy_sum, od::array<double>{1, 2, 3});
  auto const t = m.assess({{"partial", od::array<double>{3.5, 7.0}}});
  CHECK(t.result() == 7.0);
  CHECK(t.score() == Approx(-std::log(2 * M_PI) - 0.5 * 0.25 - 0.5 * 0.25));
}

TEST_CASE("chains of a recursive model have the posterior of sums", "[statistics]") {
  auto const m = ms::dynamic_model(seen, 0.4);
  double const y = 2.3;
  for (auto const& moved : {std::vector<ms::selection>{{"at/"}}, {ms::selection::all(), {"at/next/"}}}) {
    auto chain = ms::resimulation(m, {{"y", y}}, moved, {"y"})(0, od::random_key(3));
    std::vector<double> times(60);
    int const count = 40000;
    for (int i = 0; i < count; ++i) {
      chain.transition(od::random_key(4).at(i));
      double n = 0;
      for (std::string at = "at/"; !chain.state().get<bool>(at + "heads"); at += "next/") ++n;
      ++times[static_cast<std::size_t>(n)];
    }
    for (std::size_t n = 0; n < 6; ++n)
      CHECK(times[n] / count == Approx(probability(static_cast<double>(n), y)).margin(0.015));
    CHECK(chain.state().get<double>("y") == y);
  }
}

TEST_CASE("importance weights of dynamic models estimate the evidence", "[statistics]") {
  auto const m = ms::dynamic_model(seen, 0.4);
  double exact = 0, sum = 0;
  for (int n = 0; n < 60; ++n)
    exact +=
        std::pow(0.6, n) * 0.4 * std::exp(-0.5 * (2.3 - n) * (2.3 - n) / 0.64) / (0.8 * std::sqrt(2 * M_PI));
  int const count = 20000;
  for (int i = 0; i < count; ++i) sum += std::exp(m.generate({{"y", 2.3}}, od::random_key(5).at(i)).weight);
  CHECK(sum / count == Approx(exact).epsilon(0.03));
}

TEST_CASE("other contexts compose with generative ones") {
  od::contexts::count calls;
  ms::choosing choose(od::random_key(7));
  od::overdub(od::compose(calls, choose), flips, 0.4);
  auto const alone = ms::dynamic_model(flips, 0.4).simulate(od::random_key(7));
  CHECK(choose.made().size() == alone.size());
  CHECK(choose.made().score() == alone.score());
}

TEST_CASE("a dynamic model may capture, and be a lambda") {
  double sd = 0.5;
  auto const m = ms::dynamic_model(
      [&sd](od::scope auto& cx, auto mean) { return cx(od::sample<"x">, ds::normal(mean, sd)); }, 1.0);
  CHECK(m.assess({{"x", 1.0}}).score() == Approx(-std::log(0.5 * std::sqrt(2 * M_PI))));
  sd = 2;
  CHECK(m.assess({{"x", 1}}).score() == Approx(-std::log(2 * std::sqrt(2 * M_PI))));
}

TEST_CASE("a dynamic model and its traces own copies of borrowed arguments") {
  constexpr auto first = od::fn<"first">([](od::scope auto& cx, auto const& xs, auto const& rows) {
    (void)cx(od::sample<"x">, ds::normal(xs[0] + rows[0][1], 1.0));
    return xs;
  });
  std::vector<double> mine{1, 2};
  auto const lent = [&] {
    mine = {1, 2};
    return od::array<double>::borrow(mine);
  };
  auto m = ms::dynamic_model(first, lent(), od::array<od::array<double>>{lent()});
  mine = {5, 6};
  double const maximum = -0.5 * std::log(2 * M_PI); // at the mean, 1 + 2
  auto const t = m.assess({{"x", 3.0}});
  CHECK(t.score() == Approx(maximum));
  CHECK(t.result() == od::array<double>{1, 2});
  m = m.with(lent(), od::array<od::array<double>>{lent()});
  mine = {5, 6};
  CHECK(m.assess({{"x", 3.0}}).score() == Approx(maximum));
}

namespace {
inline constexpr auto twice = od::fn<"twice">([](od::scope auto& cx, auto x) {
  auto y = cx.lift(x);
  for (int i = 0; i < 2; ++i) y = y + cx(od::sample<"step">, ds::normal(0.0, 1.0));
  return y;
});
inline constexpr auto negative =
    od::fn<"negative">([](od::scope auto& cx, auto x) { return cx(od::sample<"z">, ds::normal(x, -1.0)); });
} // namespace

TEST_CASE("dynamic models reject misuse with a diagnostic") {
  od::random_key const key(1);
  CHECK_THROWS_WITH(
      ms::dynamic_model(twice, 1.0).simulate(key),
      "overdub: a choice at the address step is made twice; make them in map, loop or while_, which number "
      "their iterations, or give each call a name of its own by within");
  auto const m = ms::dynamic_model(seen, 0.4);
  CHECK_THROWS_WITH(
      m.generate({{"at/head", true}}, key),
      "overdub: at/head was given a value, and the run made no such choice; did you mean at/heads?");
  CHECK_THROWS_AS(m.generate({{"at/next/next/next/next/next/next/next/heads", true}}, key), ms::unmade_error);
  CHECK_THROWS_WITH(
      m.generate({{"y", od::array<double>{1.0}}}, key),
      "overdub: y was given a value of type f64[], and the model chooses f64");
  CHECK_THROWS_WITH(
      m.assess({{"y", 1.0}}), "overdub: the model samples at/heads, which was given no value; "
                              "generate(constraints, key) draws what is not given");
  CHECK_THROWS_WITH(
      ms::dynamic_model(flips_in_while, 0.5).generate({{"heads", od::array<bool>{false, true, true}}}, key),
      "overdub: heads was given 3 values, and the run makes 2 iterations");
  CHECK_THROWS_WITH(
      ms::dynamic_model(flips_in_while, 0.5).generate({{"heads", true}}, key),
      "overdub: heads was given a value of type bool, and the run makes a choice in each iteration there: "
      "give an "
      "array of all "
      "of them, or one of them, as heads[0]");
  CHECK_THROWS_AS(ms::dynamic_model(negative, 1.0).simulate(key), ms::model_error);
  CHECK(std::isnan(ms::dynamic_model(negative, 1.0).assess({{"z", 1.0}}).score()));
  CHECK_THROWS_AS(m.simulate(key).get<bool>("at/x"), ms::model_error);
}

namespace {

inline constexpr auto steps_of = od::fn<"steps_of">([](od::scope auto& cx, auto n) {
  return cx(
      od::reduce, [&](auto a, auto b) { return cx(od::sample<"step">, ds::normal(a + b, 1)); },
      od::map([](auto i) { return od::convert<double>(i); }, cx(od::iota, n)));
});
inline constexpr auto table = od::fn<"table">([](od::scope auto& cx, auto n, auto m) {
  return cx(od::tabulate, n, [&](auto) {
    return od::sum(cx(od::tabulate, m, [&](auto) { return cx(od::sample<"y">, ds::normal(0, 1)); }));
  });
});
// In each second iteration, by a branch of C++.
inline constexpr auto seconds = od::fn<"seconds">([](od::scope auto& cx, auto n) {
  return cx(od::tabulate, n, [&](auto i) {
    if (i % 2 == 0) return cx(od::sample<"y">, ds::normal(0, 1));
    return cx.lift(0.0);
  });
});
inline constexpr auto counted = od::fn<"counted">([](od::scope auto& cx, auto rate) {
  auto const n = cx(od::sample<"n">, ds::poisson(rate));
  return od::sum(cx(od::tabulate, n, [&](auto) { return cx(od::sample<"y">, ds::normal(0, 1)); }));
});
// An integer or a number at one address.
inline constexpr auto either = od::fn<"either">([](od::scope auto& cx, auto p) {
  if (cx(od::sample<"coin">, ds::bernoulli(p)))
    return od::convert<double>(cx(od::sample<"x">, ds::poisson(2.0)));
  return cx(od::sample<"x">, ds::normal(2, 1));
});
inline constexpr auto scaled = od::fn<"scaled">([](od::scope auto& cx, auto mean) {
  auto const s = cx(od::sample<"s">, ds::normal(mean, 1));
  return cx(od::sample<"x">, ds::normal(0, s));
});

} // namespace

TEST_CASE("reductions call their function from the left to the right") {
  for (i64 const n : {4, 5, 6, 16, 17, 33}) {
    auto const t = ms::dynamic_model(steps_of, n).simulate(od::random_key(3));
    CHECK(t.size() == static_cast<std::size_t>(n) - 1);
    // The first two that are combined are 0 and 1.
    double const first = t.get<double>("step[0]");
    double const density = -0.5 * (first - 1) * (first - 1) - 0.5 * std::log(2 * M_PI);
    CHECK(t.project({"step[0]"}) == Approx(density));
    double const second = t.get<double>("step[1]");
    CHECK(t.project({"step[1]"}) == Approx(-0.5 * (second - 5) * (second - 5) - 0.5 * std::log(2 * M_PI)));
  }
}

TEST_CASE(
    "arrays of constraints have the sizes of their maps; elements of choices that are not made are ignored") {
  od::random_key const key(1);
  using matrix = od::array<od::array<double>>;
  auto const m = ms::dynamic_model(table, i64{2}, i64{3});
  CHECK(m.generate({{"y", matrix{{1, 2, 3}, {4, 5, 6}}}}, key).of.get<double>("y[1][2]") == 6);
  CHECK_THROWS_AS(m.generate({{"y", matrix{{1, 2}, {3, 4}, {5, 6}}}}, key), ms::unmade_error);
  CHECK(m.generate({{"y[1]", od::array<double>{4, 5, 6}}}, key).of.get<double>("y[1][0]") == 4);
  auto const s = ms::dynamic_model(seconds, i64{5});
  CHECK_THROWS_AS(s.generate({{"y", od::array<double>{1, 2, 3}}}, key), ms::unmade_error);
  auto const all = s.generate({{"y", od::array<double>{1, 2, 3, 4, 5}}}, key);
  CHECK(all.of.get<double>("y[4]") == 5);
  CHECK(all.weight == all.of.score());
  CHECK(ms::dynamic_model(seconds, i64{0}).generate({{"y", od::array<double>{}}}, key).weight == 0);
}

TEST_CASE("each trace of a chain has the observations") {
  auto chain = ms::resimulation(
      ms::dynamic_model(counted, 3.0), {{"y", od::array<double>{0.5, 1, 2}}}, {{"n"}},
      {"n"})(0, od::random_key(1));
  for (int i = 0; i < 200; ++i) {
    chain.transition(od::random_key(2).at(i));
    CHECK(chain.state().get<i64>("n") == 3);
  }
  CHECK_THROWS_WITH(
      ms::resimulation(ms::dynamic_model(seen, 0.4), {{"yy", 1.0}}, {{"at/"}}, {})(0, od::random_key(1)),
      "overdub: of 100 traces of a dynamic model with these observations none has a finite density; in the "
      "last, yy was given a value, and the run made no such choice; did you mean y?");
  auto still = ms::resimulation(ms::dynamic_model(seen, 0.4), {}, {{"att/"}}, {})(0, od::random_key(1));
  double const before = still.state().score();
  CHECK(still.transition(od::random_key(1)).acceptance == 1);
  CHECK(still.state().score() == before);
}

TEST_CASE("chains of a staged model and of a dynamic one make the same draws") {
  od::array<double> const xs{1.0, 2.0, 0.5};
  ms::choice_map const given{{"y", od::array<double>{1, 2, 3}}, {"first/is_far[1]", true}};
  auto const run = [&](auto const& m) {
    auto chain = ms::resimulation(
        m, given, {{"mean", "step"}, {"first/"}, {"second/", "k"}},
        {"mean", "first/wide[0]", "k"})(0, od::random_key(6));
    std::vector<double> all;
    for (int i = 0; i < 300; ++i) {
      chain.transition(od::random_key(7).at(i));
      check_observed(chain.state(), given);
      std::vector<double> row(chain.names().size());
      chain.report(row);
      row.push_back(chain.state().score());
      all.insert(all.end(), row.begin(), row.end());
    }
    return all;
  };
  auto const staged = run(ms::model(example_models::everything, i64{3}, xs)),
             direct = run(ms::dynamic_model(example_models::everything, i64{3}, xs));
  std::size_t absent = 0;
  for (std::size_t k = 0; k < staged.size(); ++k) {
    absent += std::isnan(staged[k]);
    CHECK((std::isnan(staged[k]) ? std::isnan(direct[k]) : direct[k] == Approx(staged[k]).epsilon(1e-10)));
  }
  CHECK((absent > 30 && absent < 270));
}

TEST_CASE("a choice that has another type now is drawn, and proposals that cannot be drawn are rejected") {
  auto const m = ms::dynamic_model(either, 0.5);
  auto const t = m.assess({{"coin", true}, {"x", 3}});
  auto const u = m.update(t, {{"coin", false}}, od::random_key(1));
  CHECK(u.of.get<double>("x") != 3.0);
  CHECK(u.discard.size() == 2);
  auto const back = m.update(u.of, u.discard);
  CHECK(back.of.choices() == t.choices());
  CHECK(u.weight == Approx(0 - t.project({"x"})));

  auto chain = ms::resimulation(ms::dynamic_model(scaled, 1.0), {}, {ms::selection::all()}, {"s"})(
      0, od::random_key(1));
  for (int i = 0; i < 500; ++i) {
    chain.transition(od::random_key(2).at(i));
    CHECK(chain.state().get<double>("s") > 0);
  }
  CHECK(chain.undefined() > 20);
}

TEST_CASE("an inner context intercepts the log densities") {
  ms::choosing choose(od::random_key(7));
  od::contexts::count_of<od::sub_t> calls;
  od::overdub(od::compose(choose, calls), scaled, 3.0);
  CHECK(calls(od::sub) >= 2);
}
