// The operations of the generative function interface, on small models.
#include "catch.hpp"
#include "models/example_models.hpp"

#include <overdub/ir/print.hpp>
#include <overdub/models/posterior.hpp>

#include <cmath>
#include <limits>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

namespace {

using namespace example_models;
using Catch::Matchers::WithinAbs;

od::random_key const key(1), other_key(2);

std::string text_of(ms::choice_map const& all) {
  std::ostringstream out;
  out << all;
  return out.str();
}

inline constexpr auto noise = od::fn<"noise">([](od::scope auto& cx, auto mean) {
  auto const sd = cx(od::sample<"sd">, ds::uniform(1, 2));
  return cx(od::sample<"x">, ds::normal(mean, sd));
});

struct flat_t : ds::distribution<"flat", flat_t> {
  static constexpr std::tuple<> parameters{};
  static constexpr ds::reals support(auto const&...) { return {}; }
  static constexpr auto log_density_at(auto const& x) { return 0.0 * x; }
  static double draw(auto& g) { return ds::draw_normal(g); }
};
constexpr flat_t flat;
inline constexpr auto of_flat = od::fn<"of_flat">([](od::scope auto& cx, auto n) {
  auto const m = cx(od::sample<"m">, flat());
  cx(od::tabulate, n, [&](auto) { return cx(od::sample<"x">, flat()); });
  return cx(od::sample<"y">, ds::normal(m, 1));
});

// The order of the choices is not that of their addresses.
inline constexpr auto seasons = od::fn<"seasons">([](od::scope auto& cx, auto n) {
  auto const mu = cx(od::sample<"mu">, ds::normal(0, 1));
  auto const first = cx(od::within<"first">(noise), mu);
  auto const effects = cx(od::tabulate, n, [&](auto) { return cx(od::sample<"effect">, ds::normal(mu, 1)); });
  auto const a = cx(od::sample<"a">, ds::exponential(1));
  auto const b = cx(od::sample<"b">, ds::uniform(0.0, a));
  return od::loop(n, first, [&](auto i, auto s) {
    auto const y = cx(od::sample<"y">, ds::normal(mu + effects[i], 1 + od::abs(s)));
    return od::sqrt(a + b * (y * y));
  });
});

} // namespace

TEST_CASE("a staged model has an operation for each choice, and functions of its distributions") {
  auto const m = ms::model(noise, 3.0);
  od::ir::program const& p = m.core()->program();
  std::string const text = od::ir::print(p);
  std::size_t const own = text.find("func @noise");
  CHECK(text.substr(own, text.find("\n\n", own) - own) == R"(func @noise(%0: f64) -> f64 {
  %1 = sample "sd" "uniform"(1.0, 2.0) : f64
  %2 = sample "x" "normal"(%0, %1) : f64
  return %2
})");
  for (char const* of : {"log_density of normal", "constrain normal", "log_density of uniform"})
    CHECK(p.find(of));
  CHECK(p.host(*p.find_symbol("draw normal(f64, f64)")) != nullptr);
}

TEST_CASE("a site has an index for each enclosing map and loop") {
  auto const m = ms::model(kinds, i64{3});
  std::ostringstream out;
  for (ms::site const& s : m.sites())
    out << s.address << ' ' << s.index_count << (s.is_conditional ? " conditional " : " ") << s.nodes.size()
        << '\n';
  CHECK(out.str() == "z 1 1\nx 1 2\nleft 1 conditional 1\nright 1 conditional 1\n");
  CHECK(ms::model(groups, i64{2}, i64{2}).sites()[2].index_count == 2);
  CHECK(ms::model(walk, i64{2}, 0.0).sites()[0].index_count == 1);
}

TEST_CASE("sites, and the names of a posterior, have the order in which the function makes its choices") {
  auto const m = ms::model(seasons, i64{2});
  std::vector<std::string> sites;
  for (ms::site const& s : m.sites()) sites.push_back(s.address);
  CHECK(sites == std::vector<std::string>{"mu", "first/sd", "first/x", "effect", "a", "b", "y"});
  ms::posterior const p(m, {{"y", od::array<double>{1, 2}}});
  CHECK(
      p.names() == std::vector<std::string>{"mu", "first.sd", "first.x", "effect[1]", "effect[2]", "a", "b"});
}

TEST_CASE("a distribution without parameters is a distribution of a choice") {
  auto const m = ms::model(of_flat, i64{2});
  ms::trace const t = m.assess({{"m", 0.5}, {"x", vec{1, 2}}, {"y", 2.0}});
  CHECK(t.score() == log_density(ds::normal(0.5, 1), 2.0));
  CHECK(choice_gradients(t, {"m"}).get<double>("m") == 1.5);
  ms::trace const drawn = m.simulate(key);
  CHECK(drawn.get<double>("x[1]") == draw(flat(), key.at("x").at(1)));
  ms::posterior p(m, {{"y", 2.0}});
  std::vector<double> const q{0.5, 1, 2};
  std::vector<double> gradient(3);
  CHECK(p(q, gradient) == t.score());
  CHECK(gradient == std::vector<double>{1.5, 0, 0});
}

TEST_CASE("simulate draws all choices, and its score is their log density") {
  auto const m = ms::model(line, vec{1, 2, 3});
  ms::trace const t = m.simulate(key);
  CHECK(t.size() == 5);
  CHECK_THAT(t.score(), WithinAbs(density_of_line(t, {1, 2, 3}), 1e-12));
  auto const [slope, sum] = m.result(t);
  CHECK(slope == t.get<double>("slope"));
  CHECK(sum == od::sum(t.get<vec>("y")));
  CHECK(m.simulate(key).choices() == t.choices());
  CHECK_FALSE(m.simulate(other_key).choices() == t.choices());
}

TEST_CASE("a choice is drawn by the key at its address") {
  ms::trace const t = ms::model(line, vec{1, 2, 3}).simulate(key);
  CHECK(t.get<double>("slope") == draw(ds::normal(0, 2), key.at("slope")));
  double const mean = 3 * t.get<double>("slope");
  CHECK(t.get<double>("y[2]") == draw(ds::normal(mean, t.get<double>("sd")), key.at("y").at(2)));
  ms::trace const g = ms::model(groups, i64{2}, i64{3}).simulate(key);
  CHECK(
      g.get<double>("y[1][2]") ==
      draw(ds::student_t(4, g.get<double>("theta[1]"), 0.5), key.at("y").at(1).at(2)));
}

TEST_CASE("the draws of a plate do not depend on its length") {
  ms::trace const three = ms::model(walk, i64{3}, 0.1).simulate(key),
                  five = ms::model(walk, i64{5}, 0.1).simulate(key);
  for (i64 i = 0; i < 3; ++i) CHECK(three.get<double>({"z", {i}}) == five.get<double>({"z", {i}}));
}

TEST_CASE("generate keeps constrained choices, and draws the others") {
  auto const m = ms::model(line, vec{1, 2, 3});
  auto const [t, weight] = m.generate({{"y", vec{1, 2, 3}}}, key);
  CHECK(t.get<vec>("y").span()[1] == 2);
  ms::trace const s = m.simulate(key);
  CHECK(t.get<double>("slope") == s.get<double>("slope"));
  CHECK(t.get<double>("sd") == s.get<double>("sd"));
  CHECK_THAT(weight, WithinAbs(ms::project(t, {"y"}), 1e-12));
  CHECK_THAT(t.score(), WithinAbs(density_of_line(t, {1, 2, 3}), 1e-12));
  CHECK(m.generate({}, key).weight == 0);
}

TEST_CASE("single choices of a plate can be constrained, and an element replaces that of an array") {
  auto const m = ms::model(line, vec{1, 2, 3});
  auto const [t, weight] = m.generate({{"y[1]", 7.0}}, key);
  CHECK(t.get<double>("y[1]") == 7);
  CHECK(t.get<double>("y[0]") == m.simulate(key).get<double>("y[0]"));
  CHECK_THAT(weight, WithinAbs(ms::project(t, {"y[1]"}), 1e-12));
  ms::choice_map both{{"y", vec{1, 2, 3}}, {"y[2]", 9.0}};
  CHECK(m.generate(both, key).of.get<vec>("y").span()[2] == 9);
  both.set("y", vec{4, 5, 6});
  CHECK(both.size() == 1);
  CHECK(m.generate(both, key).of.get<vec>("y").span()[2] == 6);
}

TEST_CASE("rows of nested plates can be constrained") {
  auto const m = ms::model(groups, i64{2}, i64{3});
  auto const [t, weight] = m.generate({{"y[1]", vec{1, 2, 3}}, {"theta", vec{0, 1}}}, key);
  CHECK(t.get<double>("y[1][2]") == 3);
  CHECK(t.get<double>("y[0,2]") == draw(ds::student_t(4, 0, 0.5), key.at("y").at(0).at(2)));
  CHECK_THAT(weight, WithinAbs(ms::project(t, {"theta", "y[1]"}), 1e-12));
}

TEST_CASE("constraints are converted from integers, floats and bools") {
  auto const m = ms::model(kinds, i64{2});
  auto const [t, weight] =
      m.generate({{"z", od::array<i64>{1, 0}}, {"x", od::array<float>{1, 2}}, {"left[0]", 3}}, key);
  CHECK(t.get<bool>("z[0]"));
  CHECK_FALSE(t.get<bool>("z[1]"));
  CHECK(t.get<double>("x[1]") == 2);
  CHECK(t.get<double>("left[0]") == 3);
  CHECK_THAT(weight, WithinAbs(ms::project(t, {"z", "x", "left"}), 1e-12));
  ms::trace const whole = m.generate({{"x", od::array<bool>{true, false}}, {"z[0]", 1}}, key).of;
  CHECK(whole.get<double>("x[0]") == 1);
  CHECK(whole.get<bool>("z[0]"));
}

TEST_CASE("assess accepts all choices, and returns the same score") {
  auto const check = [](auto const& m) {
    ms::trace const t = m.simulate(key), a = m.assess(t.choices());
    CHECK(a.score() == t.score());
    CHECK(a.choices() == t.choices());
    CHECK(m.result(a) == m.result(t));
  };
  check(ms::model(line, vec{1, 2, 3}));
  check(ms::model(groups, i64{2}, i64{3}));
  check(ms::model(walk, i64{4}, 0.3));
  check(ms::model(kinds, i64{6}));
  check(ms::model(parts, i64{2}));
}

TEST_CASE("update changes a choice, and its weight is the difference of the scores") {
  auto const m = ms::model(line, vec{1, 2, 3});
  ms::trace const t = m.simulate(key);
  auto const u = m.update(t, {{"slope", 1.5}, {"y[0]", 0.0}});
  CHECK(u.of.get<double>("slope") == 1.5);
  CHECK(u.of.get<double>("y[1]") == t.get<double>("y[1]"));
  CHECK_THAT(u.weight, WithinAbs(u.of.score() - t.score(), 1e-12));
  CHECK(u.discard == ms::choice_map{{"slope", t.get<double>("slope")}, {"y[0]", t.get<double>("y[0]")}});
  auto const back = m.update(u.of, u.discard);
  CHECK(back.of.choices() == t.choices());
  CHECK(back.of.score() == t.score());
  CHECK_THAT(back.weight + u.weight, WithinAbs(0, 1e-12));
}

TEST_CASE("update draws the choices of a new branch, and discards those of the old one") {
  auto const m = ms::model(kinds, i64{4});
  ms::trace const t = m.assess(
      {{"z", od::array<bool>{true, false, true, false}},
       {"x", vec{1, 2, 3, 4}},
       {"left[0]", 1.0},
       {"right[1]", 2},
       {"left[2]", 3.0},
       {"right[3]", 4}});
  auto const u = m.update(t, {{"z[0]", false}, {"x[3]", 5.0}}, other_key);
  CHECK_FALSE(u.of.contains("left[0]"));
  CHECK(u.of.get<i64>("right[0]") == draw(ds::poisson(3), other_key.at("right").at(0)));
  CHECK(u.of.get<double>("x[0]") == 1);
  CHECK(u.discard == ms::choice_map{{"z[0]", true}, {"left[0]", 1.0}, {"x[3]", 4.0}});
  CHECK_THAT(u.weight, WithinAbs(u.of.score() - t.score() - ms::project(u.of, {"right[0]"}), 1e-12));
  auto const back = m.update(u.of, u.discard);
  CHECK(back.of.choices() == t.choices());
  CHECK(back.of.score() == t.score());
  CHECK(back.discard.contains("right[0]"));
}

TEST_CASE("update accepts other arguments: a plate gets longer, or shorter") {
  auto const two = ms::model(line, vec{1, 2}), three = two.with(vec{1, 2, 3});
  ms::trace const t = two.simulate(key);
  auto const longer = three.update(t, {}, other_key);
  CHECK(longer.of.get<vec>("y").size() == 3);
  CHECK(longer.discard.empty());
  CHECK_THAT(longer.weight, WithinAbs(0, 1e-12));
  auto const given = three.update(t, {{"y[2]", 0.5}});
  CHECK_THAT(given.weight, WithinAbs(ms::project(given.of, {"y[2]"}), 1e-12));
  auto const shorter = two.update(given.of, {});
  CHECK(shorter.of.choices() == t.choices());
  CHECK(shorter.discard == ms::choice_map{{"y[2]", 0.5}});
}

TEST_CASE("regenerate draws the selected choices, and its weight is that of the others") {
  auto const m = ms::model(line, vec{1, 2, 3});
  ms::trace const t = m.simulate(key);
  auto const r = m.regenerate(t, {"slope"}, other_key);
  CHECK(r.of.get<double>("slope") == draw(ds::normal(0, 2), other_key.at("slope")));
  CHECK(r.of.get<double>("sd") == t.get<double>("sd"));
  CHECK_THAT(
      r.weight,
      WithinAbs(ms::project(r.of, !ms::selection{"slope"}) - ms::project(t, !ms::selection{"slope"}), 1e-12));
  CHECK(r.discard == ms::choice_map{{"slope", t.get<double>("slope")}});
  auto const none = m.regenerate(t, {}, other_key);
  CHECK_THAT(none.weight, WithinAbs(0, 1e-12));
  CHECK(none.of.choices() == t.choices());
  CHECK(none.discard.empty());
  auto const all = m.regenerate(t, ms::selection::all(), other_key);
  CHECK(all.weight == 0);
  CHECK(all.of.choices() == m.simulate(other_key).choices());
}

TEST_CASE("project sums the log densities of selected choices") {
  ms::trace const t = ms::model(groups, i64{2}, i64{3}).simulate(key);
  double const theta = t.get<double>("theta[1]");
  CHECK_THAT(
      ms::project(t, {"theta[1]"}), WithinAbs(log_density(ds::normal(t.get<double>("mu"), 1), theta), 1e-12));
  CHECK_THAT(
      ms::project(t, {"y[1][2]", "y[1][2]"}),
      WithinAbs(log_density(ds::student_t(4, theta, 0.5), t.get<double>("y[1][2]")), 1e-12));
  CHECK_THAT(ms::project(t, ms::selection::all()), WithinAbs(t.score(), 1e-12));
  CHECK(ms::project(t, {}) == 0);
  CHECK(ms::project(t, {"y[7]"}) == 0);
}

TEST_CASE("gradients are those of the score by the selected choices") {
  ms::trace const t = ms::model(line, vec{1, 2}).assess({{"slope", 0.5}, {"sd", 2.0}, {"y", vec{1, 2}}});
  ms::choice_map const g = ms::choice_gradients(t, {"slope", "y[1]"});
  CHECK(g.size() == 2);
  // d/dslope: -slope / 4 + sum((y - slope x) x) / sd^2
  CHECK_THAT(g.get<double>("slope"), WithinAbs(-0.5 / 4 + (0.5 * 1 + 1.0 * 2) / 4, 1e-12));
  CHECK_THAT(g.get<double>("y[1]"), WithinAbs(-1.0 / 4, 1e-12));
  CHECK(ms::choice_gradients(t, {}).empty());
}

TEST_CASE("gradients by a conditional site are by the choices that were made") {
  ms::trace const t =
      ms::model(kinds, i64{2})
          .assess({{"z", od::array<bool>{true, false}}, {"x", vec{1, 2}}, {"left[0]", 2.0}, {"right[1]", 2}});
  CHECK(text_of(ms::choice_gradients(t, {"x", "left"})) == "left[0] = -0.5\nx = [-1.0, 0.75]\n");
}

TEST_CASE("within prefixes the addresses of a model in a model") {
  ms::trace const t = ms::model(parts, i64{2}).simulate(key);
  CHECK(t.size() == 12);
  CHECK_THAT(t.score(), WithinAbs(density_of_parts(t, 2), 1e-11));
  CHECK(t.get<double>("each/s[1]") == draw(ds::exponential(1), key.at("each/s").at(1)));
  CHECK(t.choices({"each/[1]"}).size() == 3);
  CHECK(t.choices({"a/"}).size() == 2);
  CHECK(t.choices(!ms::selection{"each/", "a/s"}).size() == 3);
  CHECK_THAT(
      ms::project(t, {"each/"}) + ms::project(t, {"a/"}) + ms::project(t, {"b/"}),
      WithinAbs(t.score(), 1e-12));
}

namespace {
inline constexpr auto numbered = od::fn<"numbered">([](od::scope auto& cx, auto x) {
  auto const deep = cx(
      od::tabulate, 2, [&](auto i) { return cx(od::within<"l#2/deep">(noise), x + od::convert<double>(i)); });
  return cx(od::within<"l#1">(noise), x) + cx(od::within<"l#2">(noise), x) + od::sum(deep);
});
inline constexpr auto rounded = od::fn<"rounded">(
    [](od::scope auto& cx, auto x) { return cx(od::sample<"x">, ds::normal(od::convert<double>(x), 1)); });
inline constexpr auto two_signatures = od::fn<"two_signatures">([](od::scope auto& cx, auto x, auto n) {
  return od::if_(
      x > 0.0, [&] { return cx(od::within<"in">(rounded), x); },
      [&] { return cx(od::within<"in">(rounded), n); });
});
} // namespace

TEST_CASE("names of models in models may have any characters, and a number as a suffix") {
  ms::trace const t = ms::model(numbered, 0.0).simulate(key);
  CHECK(t.contains("l#1/x"));
  CHECK(t.contains("l#2/x"));
  CHECK(t.contains("l#2/deep/sd[1]"));
  CHECK(t.size() == 8);
  for (double const x : {1.0, -1.0}) {
    ms::trace const one = ms::model(two_signatures, x, i64{7}).assess({{"in/x", 3.0}});
    CHECK(one.score() == log_density(ds::normal(x > 0 ? x : 7, 1), 3.0));
  }
}

TEST_CASE("addresses are parsed and printed") {
  CHECK(ms::address("a") == ms::address("a", {}));
  CHECK(ms::address("a/b[1][2]") == ms::address("a/b", {1, 2}));
  CHECK(ms::address("a[1,2]") == ms::address("a", {1, 2}));
  CHECK(ms::text_of(ms::address("a b[3,-1]")) == "a b[3][-1]");
}

TEST_CASE("choice maps find elements of arrays, and print a line for each address") {
  ms::choice_map all{{"x", od::array<vec>{{1, 2}, {3, 4}}}, {"n", 3}, {"b", true}};
  CHECK(all.get<double>("x[1][0]") == 3);
  CHECK(all.get<vec>("x[1]").span()[1] == 4);
  CHECK_FALSE(all.contains("x[2]"));
  CHECK_FALSE(all.contains("x[0][-1]"));
  CHECK_FALSE(all.contains("x[0][0][0]"));
  CHECK_FALSE(all.contains("y"));
  all.set("x[1][1]", 9.0);
  CHECK(all.get<double>("x[1,1]") == 9);
  CHECK(all.get<double>("x[1,0]") == 3);
  CHECK(text_of(all) == "b = true\nn = 3\nx = [[1.0, 2.0], [3.0, 4.0]]\nx[1][1] = 9.0\n");
}

TEST_CASE("selections are sets of choices") {
  ms::selection const s{"x[1]", "part/"};
  CHECK(s.contains("x[1]"));
  CHECK(s.contains("x[1][5]"));
  CHECK_FALSE(s.contains("x[2]"));
  CHECK_FALSE(s.contains("x"));
  CHECK(s.contains("part/y"));
  CHECK(s.contains("part/inner/y[3]"));
  CHECK_FALSE(s.contains("parts/y"));
  CHECK((!s).contains("x[2]"));
  CHECK_FALSE((!s).contains("x[1]"));
  CHECK(ms::selection::all().contains("anything"));
  CHECK(s.extent("x") == 0);
  CHECK(s.extent("part/y") == 1);
  CHECK((!s).extent("part/y") == -1);
  CHECK((!s).extent("x") == 0);
}

TEST_CASE("improper_choice names the choice whose log density is NaN") {
  constexpr auto two = od::fn<"two">([](od::scope auto& cx, auto p) {
    auto const low = cx(od::sample<"low">, ds::exponential(p));
    auto const w = cx(od::sample<"w">, ds::dirichlet(od::fill(i64{2}, 1.0)));
    return cx(od::sample<"y">, ds::normal(w[0], low));
  });
  double const no_number = std::nan("");
  auto const m = ms::model(two, 1.0);
  od::array<double> const half{0.5, 0.5};
  CHECK(
      ms::improper_choice(m.assess({{"low", -1.0}, {"w", half}, {"y", 1.0}})) ==
      "y is 1.0, and its log density is NaN: normal: sd is -1, and must be finite, and greater than 0");
  CHECK(
      ms::improper_choice(m.assess({{"low", 1.0}, {"w", od::array<double>{0.5, no_number}}, {"y", 1.0}})) ==
      "w is [0.5, nan], which is no number");
}

TEST_CASE("improper_choice names an invalid parameter and its value") {
  constexpr auto scaled = od::fn<"scaled">([](od::scope auto& cx, auto sd) {
    return cx(od::tabulate, i64{2}, [&](auto i) {
      return cx(od::sample<"x">, ds::normal(0, sd - od::convert<double>(i)));
    });
  });
  CHECK(
      ms::improper_choice(ms::model(scaled, 0.5).assess({{"x", od::array<double>{0.0, 1.5}}})) ==
      "x[1] is 1.5, and its log density is NaN: normal: sd is -0.5, and must be finite, and greater than 0");
}

TEST_CASE("improper_choice names a choice whose density is 0 or infinite") {
  auto const m = ms::model(noise, 0.0);
  CHECK(ms::improper_choice(m.assess({{"x", 1.0}, {"sd", 1.5}})) == "");
  CHECK(
      ms::improper_choice(m.assess({{"x", 1.0}, {"sd", 5.0}})) ==
      "sd is 5.0, which its distribution never gives");
  CHECK(ms::improper_choice(m.assess({{"x", 1.0}, {"sd", std::nan("")}})) == "sd is nan, which is no number");
  auto const edge =
      ms::model([](od::scope auto& cx, auto a) { return cx(od::sample<"x">, ds::gamma(a, 1)); }, 0.5);
  CHECK(ms::improper_choice(edge.assess({{"x", 0.0}})) == "x is 0.0, which its distribution never gives");
}

TEST_CASE("plates may have no iteration, or one") {
  for (auto const& [n, k] : {std::pair<i64, i64>{0, 0}, {0, 3}, {3, 0}, {1, 1}}) {
    auto const m = ms::model(groups, n, k);
    ms::trace const t = m.simulate(key);
    CHECK(t.size() == static_cast<std::size_t>(1 + n + n * k));
    CHECK(m.assess(t.choices()).score() == t.score());
    CHECK(m.update(t, {}).weight == 0);
    CHECK(m.regenerate(t, ms::selection::all(), other_key).weight == 0);
    CHECK(ms::choice_gradients(t, ms::selection::all()).size() == 3);
  }
  CHECK(ms::model(walk, i64{-5}, 0.0).simulate(key).size() == 0);
  CHECK(ms::model(walk, i64{0}, 0.0).simulate(key).score() == 0);
}

TEST_CASE("a model may have no choices, and no result") {
  auto const plain = ms::model([](auto x) { return 2.0 * x; }, 3.0);
  ms::trace const t = plain.simulate(key);
  CHECK(t.score() == 0);
  CHECK(t.size() == 0);
  CHECK(plain.result(t) == 6);
  CHECK(plain.update(t, {}).weight == 0);
  CHECK(ms::project(t, ms::selection::all()) == 0);
  CHECK(ms::choice_gradients(t, ms::selection::all()).empty());
  auto const silent =
      ms::model([](od::scope auto& cx, auto x) { (void)cx(od::sample<"x">, ds::normal(x, 1)); }, 3.0);
  CHECK(silent.simulate(key).size() == 1);
}

TEST_CASE("the stack depth does not depend on the length of a chain") {
  auto const m = ms::model(walk, i64{20000}, 0.0);
  ms::trace const t = m.simulate(key);
  CHECK(t.size() == 40000);
  CHECK(m.assess(t.choices()).score() == t.score());
  CHECK_THAT(t.score(), WithinAbs(density_of_walk(t, 20000, 0.0), 1e-7));
  CHECK(ms::choice_gradients(t, {"z[19999]"}).size() == 1);
}

TEST_CASE("traces outlive their models, and copies of a model share its programs") {
  ms::trace t;
  {
    auto const m = ms::model(noise, 1.0);
    t = m.simulate(key);
  }
  CHECK(ms::project(t, {"x"}) == log_density(ds::normal(1, t.get<double>("sd")), t.get<double>("x")));
  auto const again = ms::model(noise, 2.0);
  CHECK(t.shared_core() == again.core());
  auto const count = again.core()->programs();
  (void)again.simulate(key);
  CHECK(again.core()->programs() == count);
}
