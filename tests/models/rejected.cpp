// The diagnostics of models.
#include "catch.hpp"
#include "models/example_models.hpp"

#include <overdub/ir/parse.hpp>
#include <overdub/ir/print.hpp>
#include <overdub/models/mutable_trace.hpp>
#include <overdub/models/numbers.hpp>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

namespace {

using namespace example_models;

od::random_key const key(1);

template <class Error = ms::model_error, class F>
std::string said(F const& f) {
  try {
    f();
  } catch (Error const& e) {
    return e.what();
  }
  return "nothing";
}
template <class... A>
std::string refused(A const&... x) {
  return said([&] { (void)ms::model(x...); });
}

inline constexpr auto noise = od::fn<"noise">(
    [](od::scope auto& cx, auto mean, auto sd) { return cx(od::sample<"x">, ds::normal(mean, sd)); });
inline constexpr auto twice =
    od::fn<"twice">([](od::scope auto& cx, auto x) { return cx(noise, x, 1.0) + cx(noise, x, 2.0); });
inline constexpr auto mixed = od::fn<"mixed">([](od::scope auto& cx, auto c) {
  return od::if_(
      c, [&] { return cx(od::sample<"x">, ds::normal(0, 1)); },
      [&] { return od::convert<double>(cx(od::sample<"x">, ds::poisson(3))); });
});
inline constexpr auto brackets =
    od::fn<"brackets">([](od::scope auto& cx, auto x) { return cx(od::sample<"a[0]">, ds::normal(x, 1)); });
inline constexpr auto waits = od::fn<"waits">([](od::scope auto& cx, auto x) {
  return od::while_(
      x, [](auto y) { return y < 3.0; }, [&](auto y) { return y + cx(od::sample<"x">, ds::exponential(1)); });
});
inline constexpr auto reduces = od::fn<"reduces">([](od::scope auto& cx, auto xs) {
  return od::reduce(
      [&](auto a, auto b) { return a + b * cx(od::sample<"x">, ds::normal(0, 1)); }, cx.lift(0.0), xs);
});
inline constexpr auto descends = od::fn<"descends">([](od::scope auto& cx, auto n) -> decltype(n) {
  auto const x = cx(od::sample<"x">, ds::poisson(3));
  return od::if_(
      n > 0, [&] { return cx.self(n - 1) + x; }, [&] { return cx.lift(i64{0}); });
});
inline constexpr auto starts = od::fn<"starts">([](od::scope auto& cx, auto n) { return cx(descends, n); });
inline constexpr auto rows = od::fn<"rows">([](od::scope auto& cx, auto n) {
  return od::sum(cx(od::tabulate, n, [&](auto i) {
    return od::sum(cx(od::tabulate, i, [&](auto) { return cx(od::sample<"x">, ds::normal(0, 1)); }));
  }));
});
inline constexpr auto looks_up =
    od::fn<"looks_up">([](od::scope auto& cx, auto xs) { return cx(od::sample<"x">, ds::normal(xs[5], 1)); });
inline constexpr auto plate = od::fn<"plate">([](od::scope auto& cx, auto n) {
  return cx(od::tabulate, n, [&](auto) { return cx(od::sample<"x">, ds::normal(0, 1)); });
});

struct stubborn_t : ds::distribution<"stubborn", stubborn_t> {
  static constexpr std::tuple parameters{ds::parameter<ds::reals>{"location"}};
  static constexpr ds::reals support(auto const&...) { return {}; }
  static constexpr auto log_density_at(auto const& x, auto const& location) { return -od::abs(x - location); }
  static double draw(auto&, double location) {
    if (location > 1) throw std::runtime_error("no such thing");
    return location;
  }
};
inline constexpr stubborn_t stubborn;
inline constexpr auto throws =
    od::fn<"throws">([](od::scope auto& cx, auto x) { return cx(od::sample<"x">, stubborn(x)); });

} // namespace

TEST_CASE("choices are rejected if their number or addresses are unknown") {
  CHECK(
      refused(twice, 0.0) ==
      "overdub: @twice: the choice \"x\" is sampled twice; give each choice an address of its own, "
      "or call its function within a name: cx(overdub::within<\"left\">(f), ...)");
  CHECK(
      refused(mixed, true) == "overdub: @mixed: the choice \"x\" is sampled in two branches, with different "
                              "types or numbers of indices");
  CHECK(
      refused(brackets, 0.0) ==
      "overdub: @brackets: the choice \"a[0]\" has brackets in its name; indices are those of "
      "the enclosing maps and loops");
  CHECK(
      refused(waits, 0.0) ==
      "overdub: @waits: the choice \"x\" is nested in an operation \"while\", whose iterations have no "
      "addresses; choices may be nested in maps, loops and branches");
  CHECK(
      refused(reduces, vec{1}) ==
      "overdub: @reduces: the choice \"x\" is nested in an operation \"reduce\", whose iterations have no "
      "addresses; choices may be nested in maps, loops and branches");
  std::string const recursion =
      "overdub: @descends makes random choices and calls itself, so that it is not known how "
      "many choices there are; write it as a loop";
  CHECK(refused(descends, i64{2}) == recursion);
  CHECK(refused(starts, i64{2}) == recursion);
}

namespace {

// A model in text, with the functions of normal from a staged one.
ms::shared_core core_of(std::string const& text, bool with_functions = true, bool with_draws = true) {
  od::ir::program const from = ms::model(noise, 0.0, 1.0).core()->program();
  std::string all = text;
  if (with_functions) {
    std::string functions = od::ir::print(from);
    std::size_t const own = functions.find("func @noise");
    functions.erase(own, functions.find("\n}\n", own) + 3 - own);
    all += functions.substr(functions.find("\n\n"));
  }
  od::ir::program p = od::ir::parse(all);
  if (with_draws)
    for (od::ir::host_binding h : from.hosts) {
      h.name = p.intern(from.text(h.name));
      p.hosts.push_back(h);
    }
  return std::make_shared<ms::model_core const>(p, od::compile_options());
}
std::string refused_text(std::string const& text) {
  return said([&] { (void)core_of(text); });
}

} // namespace

TEST_CASE("models in text have the functions of their distributions, and run") {
  std::string const text = R"(entry @f

func @f(%n: i64) -> f64 {
  %last, %all = loop reversed %n (%i: i64, %s: f64 = 0.0) -> f64 stack f64 {
    %x = sample "x"[%i] "normal"(%s, 1.0) : f64
    yield %x, %x
  }
  return %last
}
)";
  ms::shared_core const m = core_of(text);
  ms::trace const t = ms::simulate(m, {i64{4}}, key);
  CHECK(t.get<double>("x[3]") == draw(ds::normal(0, 1), key.at("x").at(3)));
  CHECK(t.get<double>("x[2]") == draw(ds::normal(t.get<double>("x[3]"), 1), key.at("x").at(2)));
  CHECK(t.result<double>() == t.get<double>("x[0]"));
  CHECK(ms::assess(m, {i64{4}}, t.choices()).score() == t.score());

  ms::shared_core const silent = core_of(text, true, false);
  CHECK(ms::assess(silent, {i64{4}}, t.choices()).score() == t.score());
  CHECK(
      said([&] { (void)ms::simulate(silent, {i64{4}}, key); }) ==
      "overdub: there is no sampler for the choice \"x\": the model's program was parsed from a text, and no "
      "model "
      "with its "
      "distribution "
      "was staged");
  CHECK(
      said([&] { (void)core_of(text, false, false); }) ==
      "overdub: the choice \"x\" has the distribution \"normal\", and the program has no function "
      "@\"log_density of "
      "normal\" for it");
}

TEST_CASE("models in text are rejected if C++ cannot express them") {
  CHECK(
      refused_text(R"(entry @f

func @f(%n: i64) -> f64[] {
  %all = map %n (%i: i64) -> f64 {
    %j = add %i, 1 : i64
    %x = sample "x"[%j] "normal"(0.0, 1.0) : f64
    yield %x
  }
  return %all
}
)") == "overdub: @f: the choice \"x\" has indices that differ from those of the enclosing maps and "
       "loops; sample it with these");
  CHECK(
      refused_text(R"(entry @f

func @g(%x: f64) -> f64 {
  %y = sample "y" "normal"(%x, 1.0) : f64
  return %y
}

func @f(%x: f64) -> f64 {
  %h = closure @g() : fn(f64) -> f64
  %y = apply %h(%x) : f64
  return %y
}
)") == "overdub: @g makes random choices, and becomes a function value in @f: it is not known where it is "
       "called; call it "
       "itself");
  std::string deep, closing;
  for (int k = 0; k < 128; ++k) {
    deep += "  map 1 (%i" + std::to_string(k) + ": i64) {\n";
    closing += "  yield\n  }\n";
  }
  std::string at;
  for (int k = 0; k < 128; ++k) at += (k > 0 ? ", %i" : "%i") + std::to_string(k);
  CHECK(
      refused_text(
          "entry @f\n\nfunc @f() {\n" + deep + "  %x = sample \"x\"[" + at +
          "] \"normal\"(0.0, 1.0) : f64\n" + closing + "  return\n}\n") ==
      "overdub: @f: the choice \"x\" is nested in more maps and loops than an array has axes");
}

TEST_CASE("texts that are no addresses are rejected") {
  for (char const* const text :
       {"", "a[", "a[1", "a[99999999999999999999]", "a[1]x", "a[1,]", "a[]", "[1]", "a[1]]", "a[+1]",
        "a[ 1]"})
    CHECK(
        said([&] { (void)ms::address(text); }) ==
        "overdub: \"" + std::string(text) +
            "\" is not an address: write a name, and indices after it, as in theta[3][1]");
}

TEST_CASE("constraints must be choices of the model") {
  auto const m = ms::model(plate, i64{3});
  auto const generated = [&](ms::choice_map const& c) { return said([&] { (void)m.generate(c, key); }); };
  auto const assessed = [&](ms::choice_map const& c) { return said([&] { (void)m.assess(c); }); };
  CHECK(generated({{"y", 1.0}}) == "overdub: the model @plate never samples \"y\"");
  CHECK(generated({{"xs", 1.0}}) == "overdub: the model @plate never samples \"xs\"; did you mean x?");
  CHECK(
      generated({{"x", 1.0}}) == "overdub: x was given a value of type f64, and the model chooses f64[]: "
                                 "give all, or one of them, x[0]");
  CHECK(
      generated({{"x[0]", vec{1}}}) ==
      "overdub: x[0] was given a value of type f64[], and the model chooses f64");
  CHECK(generated({{"x[0][1]", 1.0}}) == "overdub: x[0][1] was given a value, and \"x\" has 1 index");
  for (char const* const outside : {"x[3]", "x[-1]"})
    CHECK(
        generated({{outside, 1.0}}) ==
        "overdub: " + std::string(outside) +
            " was given a value, and the model makes 3 choices along this index");
  for (vec const& xs : {vec{1, 2}, vec{1, 2, 3, 4}, vec{}})
    CHECK(
        generated({{"x", xs}}) ==
        "overdub: x was given " + std::to_string(xs.size()) + " values, and the model makes 3 choices");
  CHECK(assessed({{"x", vec{1, 2, 3, 4}}}) == "overdub: x was given 4 values, and the model makes 3 choices");
  std::string const missing =
      ", which was given no value; generate(constraints, key) draws what is not given";
  CHECK(assessed({{"x", vec{1, 2}}}) == "overdub: the model @plate samples x[2]" + missing);
  CHECK(assessed({{"x[1]", 1.0}}) == "overdub: the model @plate samples x[0]" + missing);
  CHECK(assessed({}) == "overdub: the model @plate samples x[0]" + missing);
  ms::trace const t = m.simulate(key);
  CHECK(said([&] {
          (void)m.update(t, {{"x[3]", 1.0}});
        }) == "overdub: x[3] was given a value, and the model makes 3 choices along this index");
}

TEST_CASE("constraints must be convertible to the choice's type") {
  auto const m = ms::model(kinds, i64{1});
  auto const generated = [&](ms::choice_map const& c) { return said([&] { (void)m.generate(c, key); }); };
  CHECK(
      generated({{"right", od::array<double>{1.5}}}) ==
      "overdub: right was given a value of type f64[], and the model chooses i64[]");
  CHECK(
      generated({{"right[0]", 1.5}}) ==
      "overdub: right[0] was given a value of type f64, and the model chooses i64");
  CHECK(
      generated({{"z[0]", 2}}) == "overdub: z[0] was given a value of type i64, and the model chooses bool; "
                                  "0 and 1 are taken for false and true");
  CHECK(
      generated({{"z", od::array<i64>{2}}}) ==
      "overdub: z was given a value of type i64[], and the model chooses bool[]");
  CHECK(
      generated({{"z[0]", 1.0}}) ==
      "overdub: z[0] was given a value of type f64, and the model chooses bool");
}

TEST_CASE("constraints in a branch that is not taken are rejected") {
  auto const m = ms::model(kinds, i64{1});
  CHECK(
      said([&] {
        (void)m.generate({{"z[0]", true}, {"right[0]", 1}}, key);
      }) == "overdub: right[0] was given a value, and the model @kinds did not sample it: it is nested in a "
            "branch that was not taken");
}

TEST_CASE("a trace has the choices that were made") {
  auto const m = ms::model(kinds, i64{1});
  ms::trace const t = m.generate({{"z[0]", true}}, key).of;
  CHECK_FALSE(t.find("right[0]"));
  CHECK(
      said([&] { (void)t.get<i64>("right[0]"); }) == "overdub: the model @kinds did not sample right[0] in "
                                                     "this run: it is nested in a branch that was not taken");
  CHECK(
      said([&] { (void)t.get<double>("x[1]"); }) == "overdub: there is no choice x[1]: the model @kinds made "
                                                    "1 of them along this index, which counts from 0");
  CHECK(said([&] {
          (void)t.get<double>("x[0][0]");
        }) == "overdub: x[0][0] has 2 indices, and each choice \"x\" of the model @kinds has 1");
  CHECK(said([&] {
          (void)t.find("righ");
        }) == "overdub: the model @kinds never samples \"righ\"; did you mean right?");
  CHECK(
      said<od::type_error>([&] { (void)t.get<i64>("x[0]"); }) ==
      "overdub: the choice x[0] is of type f64, and is read as i64; read it as its own type, or convert "
      "it");
  CHECK(
      said<od::type_error>([&] { (void)t.get<double>("x"); }) ==
      "overdub: x is many numbers, of type f64[], and is read as f64; read one of them, as x[0], or "
      "all, as an array");
  CHECK(said([&] { (void)t.choices().get<double>("y"); }) == "overdub: there is no choice at the address y");
  CHECK(said([&] {
          (void)ms::choice_map({{"rate", 1.0}}).get<double>("rat");
        }) == "overdub: there is no choice at the address rat; did you mean rate?");
}

TEST_CASE("an incremental trace has the same choices") {
  ms::trace const t = ms::model(kinds, i64{1}).generate({{"z[0]", true}}, key).of;
  ms::followed_trace const f(t);
  for (char const* const at : {"right[0]", "x[1]", "x[-1]", "x[0][0]", "righ"})
    CHECK(said([&] { (void)f.get<double>(at); }) == said([&] { (void)t.get<double>(at); }));
  CHECK(f.get<double>("x[0]") == t.get<double>("x[0]"));
  CHECK(f.get<vec>("x") == t.get<vec>("x"));
}

TEST_CASE("the operations of a moved-from model throw") {
  auto from = ms::model(noise, 0.0, 1.0);
  ms::trace const t = from.simulate(key);
  auto const to = std::move(from);
  std::string const moved = "overdub: this model was moved from; assign to it before it is used";
  CHECK(said([&] { (void)from.simulate(key); }) == moved);
  CHECK(said([&] { (void)from.propose(key); }) == moved);
  CHECK(said([&] { (void)from.generate({}, key); }) == moved);
  CHECK(said([&] { (void)from.inputs(); }) == moved);
  CHECK(said([&] { (void)from.assess(t.choices()); }) == moved);
  CHECK(said([&] { (void)from.update(t, {}); }) == moved);
  CHECK(said([&] { (void)from.regenerate(t, ms::selection::all(), key); }) == moved);
  CHECK(said([&] { (void)from.argument_gradients(t); }) == moved);
  CHECK(said([&] { (void)from.with(1.0, 2.0); }) == moved);
  CHECK(said([&] { (void)from.result(t); }) == moved);
  CHECK(said([&] { (void)from.name(); }) == moved);
  CHECK(said([&] { (void)from.sites(); }) == moved);
  CHECK(said([&] { (void)from.core(); }) == moved);
  from = to;
  CHECK(from.simulate(key).score() == t.score());
}

TEST_CASE("default-constructed and moved-from traces throw") {
  std::string const none =
      "overdub: this trace is of no run: it was made by trace(), or moved from; simulate or generate one";
  auto const m = ms::model(noise, 0.0, 1.0);
  ms::trace from = m.simulate(key);
  ms::trace const kept = std::move(from);
  for (ms::trace const& t : {ms::trace(), from}) {
    CHECK(said([&] { (void)t.get<double>("x"); }) == none);
    CHECK(said([&] { (void)t.contains("x"); }) == none);
    CHECK(said([&] { (void)t.choices(); }) == none);
    CHECK(said([&] { (void)project(t, ms::selection::all()); }) == none);
    CHECK(said([&] { (void)choice_gradients(t, ms::selection::all()); }) == none);
    CHECK(said([&] { ms::followed_trace const f(t); }) == none);
    CHECK(t.size() == 0);
  }
  ms::followed_trace f(kept);
  f.set({{"x", 1.0}});
  ms::followed_trace g = std::move(f);
  CHECK(said([&] { (void)f.get<double>("x"); }) == none);
  CHECK(said([&] { f.set({{"x", 1.0}}); }) == none);
  CHECK(said([&] { f.set_argument(0, 1.0); }) == none);
  CHECK(said([&] { f.extend(m); }) == none);
  std::string const moved =
      "overdub: this incremental computation was moved from, and has no value any more; "
      "assign to it before it is used";
  using od::incremental_error;
  CHECK(said<incremental_error>([&] { (void)f.score(); }) == moved);
  CHECK(said<incremental_error>([&] { (void)f.propose(); }) == moved);
  CHECK(said<incremental_error>([&] { f.commit(); }) == moved);
  CHECK(said<incremental_error>([&] { (void)f.as_trace(); }) == moved);
  g.commit();
  CHECK(g.score() == m.assess({{"x", 1.0}}).score());
  f = g;
  CHECK(f.get<double>("x") == 1.0);
}

TEST_CASE("selections must name choices of the model") {
  auto const m = ms::model(kinds, i64{1});
  ms::trace const t = m.simulate(key);
  auto const refused = [&](ms::selection const& of, std::string const& why) {
    CHECK(said([&] { (void)m.regenerate(t, of, key); }) == why);
    CHECK(said([&] { (void)ms::project(t, of); }) == why);
    CHECK(said([&] { (void)ms::choice_gradients(t, of); }) == why);
    CHECK(said([&] { (void)t.choices(of); }) == why);
    CHECK(said([&] { (void)ms::number_row(t, of); }) == why);
  };
  refused({"z", "righ"}, "overdub: the model @kinds never samples \"righ\"; did you mean right?");
  refused(!ms::selection{"righ"}, "overdub: the model @kinds never samples \"righ\"; did you mean right?");
  refused({"group/"}, "overdub: the model @kinds samples nothing within \"group/\"");
  refused({"x[-1]"}, "overdub: x[-1] was selected, and indices are counted from 0");
  refused({"x[0][1]"}, "overdub: x[0][1] was selected, and \"x\" has 1 index");
}

TEST_CASE("moves name a site, not one choice") {
  auto const m = ms::model(kinds, i64{1});
  CHECK(
      said([&] { (void)m.core()->site_at("z[0]"); }) ==
      "overdub: z[0] has indices, and the address of all choices of the site is required; write \"z\"");
}

TEST_CASE("parts of arrays are checked for range") {
  CHECK(said<od::index_error>([] {
          (void)ms::part_of(vec{1, 2}, std::vector<i64>{2});
        }) == "overdub: index 2 is out of range for an axis of 2 elements");
  CHECK(said<od::index_error>([] {
          (void)ms::part_of(vec{1, 2}, std::vector<i64>{0, 0});
        }) == "overdub: 2 indices for an array of 1 axes");
}

TEST_CASE("discrete choices have no gradient, and no unconstrained values") {
  auto const m = ms::model(kinds, i64{1});
  CHECK(said([&] {
          (void)ms::choice_gradients(m.simulate(key), {"z"});
        }) == "overdub: the choice \"z\" is discrete, and has no derivative; select continuous choices");
  CHECK(
      said([&] { (void)m.core()->program_of(m.core()->all_in(ms::role::unconstrained)); }) ==
      "overdub: the choice \"z\" is discrete, or its values are not transformed to numbers without "
      "constraints: it has no "
      "gradient; give it a value, or sample it by moves of its own");
}

TEST_CASE("operations reject a trace of another model") {
  auto const m = ms::model(noise, 0.0, 1.0);
  ms::trace const other = ms::model(plate, i64{3}).simulate(key);
  CHECK(
      said([&] { (void)m.update(other, {}); }) == "overdub: the model @noise is given a trace of @plate; it "
                                                  "changes traces of its own function and options");
  CHECK(
      said([&] { (void)m.regenerate(ms::trace(), {}, key); }) ==
      "overdub: the model @noise is given no trace; it changes traces of its own function and options");
}

TEST_CASE("an invalid parameter is reported with its choice") {
  double const inf = std::numeric_limits<double>::infinity();
  CHECK(said([&] {
          (void)ms::model(noise, 0.0, -1.0).simulate(key);
        }) == "overdub: x cannot be drawn: normal: sd is -1, and must be finite, and greater than 0");
  CHECK(said([&] {
          (void)ms::model(noise, inf, 1.0).simulate(key);
        }) == "overdub: x cannot be drawn: normal: mean is inf, and must be finite");
  CHECK(said([&] {
          (void)ms::model(groups, i64{1}, i64{2}).generate({{"theta[0]", inf}}, key);
        }) == "overdub: y[0][0] cannot be drawn: student_t: location is inf, and must be finite");
  CHECK(std::isnan(ms::model(noise, 0.0, std::nan("")).assess({{"x", 1.0}}).score()));
  CHECK(ms::model(noise, 0.0, 1.0).assess({{"x", inf}}).score() == -inf);
}

TEST_CASE("exceptions of a model are passed to the caller, and the model is usable afterwards") {
  CHECK(said<od::index_error>([] {
          (void)ms::model(looks_up, vec{1}).simulate(key);
        }) == "overdub: at: index 5 is out of range for an array of size 1");
  CHECK(said<od::index_error>([] {
          (void)ms::model(looks_up, vec{1}).assess({{"x", 1.0}});
        }) == "overdub: at: index 5 is out of range for an array of size 1");
  CHECK(said<od::size_error>([] {
          (void)ms::model(plate, i64{-1}).simulate(key);
        }) == "overdub: map: a size of -1 is negative");
  auto const m = ms::model(throws, 2.0);
  CHECK(said<std::runtime_error>([&] { (void)m.simulate(key); }) == "no such thing");
  CHECK(m.with(1.0).simulate(key).get<double>("x") == 1);
}

TEST_CASE("a nested plate has one size in all iterations") {
  CHECK(
      said<od::size_error>([] { (void)ms::model(rows, i64{3}).simulate(key); }) ==
      "overdub: map: arrays of different sizes, 0 and 1; a map or a loop that makes choices makes as many in "
      "each iteration of the enclosing ones");
}
