// Functions that are redefined between calls: exactly the affected compiled functions are recompiled.
#include "catch.hpp"

#include <overdub/compile/library_call.hpp>
#include <overdub/contexts/forward.hpp>
#include <overdub/ir/cursor.hpp>
#include <overdub/ir/parse.hpp>

#include <memory>
#include <string>
#include <vector>

namespace {

namespace od = overdub;
namespace ir = overdub::ir;
using od::i64;
using kind = od::compilation_event::kind;

char const* const two_functions = R"(
func @scale(%x: f64) -> f64 {
  %y = mul %x, 2.0 : f64
  return %y
}
func @f(%x: f64) -> f64 {
  %y = call @scale(%x) : f64
  %z = add %y, 1.0 : f64
  return %z
}
)";
std::string scale_by(std::string const& factor) {
  return "func @scale(%x: f64) -> f64 {\n  %y = mul %x, " + factor + " : f64\n  return %y\n}\n";
}
char const* const alone = "func @alone(%x: f64) -> f64 {\n  return %x\n}\n";

// Each test has its own cache.
struct fixture {
  od::library of;
  od::compilation_cache cache;
  od::compile_options options() { return {.cache = &cache}; }
  auto compiled(std::string const& name) {
    return od::compile(od::compose(), of.function<double(double)>(name), od::signature<double>, options());
  }
  std::uint64_t compilations() const { return cache.statistics().compilations; }
};

inline constexpr auto cube = od::fn<"cube">([](auto x) { return x * x * x; });
inline constexpr auto staged_norm = od::fn<"norm">([](auto xs) { return sqrt(od::sum(od::map(cube, xs))); });

} // namespace

TEST_CASE("functions are defined, called and compiled by their names") {
  od::library of;
  of.define(two_functions);
  CHECK(of.names() == std::vector<std::string>{"f", "scale"});
  CHECK(of.function<double(double)>("f")(3.0) == 7.0);
  of.define(od::stage(staged_norm, od::signature<od::array<double>>));
  CHECK(of.function<double(od::array<double>)>("norm")(od::array<double>{2.0, 2.0}) == 4.0);
  ir::program const p = of.program("f");
  CHECK(p.name_of(p.entry) == "f");
  CHECK(p.functions.size() == 2);
}

TEST_CASE("in contexts, functions of libraries become derived functions as functions of C++ do") {
  fixture a;
  a.of.define(two_functions);
  auto const f = od::compile(
      od::contexts::forward{}, a.of.function<double(double)>("f"), od::signature<od::tagged<double, double>>,
      a.options());
  CHECK(f(od::tag(3.0, 1.0)).inner == 7.0);
  CHECK(f(od::tag(3.0, 1.0)).metadata == 2.0);
  a.of.redefine("func @scale(%x: f64) -> f64 {\n  %y = mul %x, %x : f64\n  return %y\n}\n");
  CHECK(f(od::tag(3.0, 1.0)).inner == 10.0);
  CHECK(f(od::tag(3.0, 1.0)).metadata == 6.0);
}

TEST_CASE("the cache has seven cases: first call, hit, contexts, options, unrelated and related changes, "
          "recompilation") {
  fixture a;
  a.of.define(two_functions);
  a.of.define(alone);
  CHECK(a.cache.statistics().entries == 0); // no call was made
  auto const f = a.compiled("f");
  CHECK(f(1.0) == 3.0);
  CHECK(f(2.0) == 5.0);
  CHECK(a.compiled("f")(1.0) == 3.0);
  CHECK(a.compiled("f").made() == f.made());
  CHECK(a.compilations() == 1); // an equal request is a hit
  auto const g = od::compile(
      od::contexts::forward{}, a.of.function<double(double)>("f"), od::signature<od::tagged<double, double>>,
      a.options());
  CHECK(g(od::tag(1.0, 1.0)).metadata == 2.0);
  CHECK(a.compilations() == 2); // each context has its own program
  auto other = a.options();
  other.hot_calls = 5; // does not affect the program
  auto const h = od::compile(od::compose(), a.of.function<double(double)>("f"), od::signature<double>, other);
  CHECK(h.made() == f.made());
  CHECK(a.compilations() == 2); // equal options are a hit
  auto const before = f.made();
  a.of.redefine("func @alone(%x: f64) -> f64 {\n  %y = neg %x : f64\n  return %y\n}\n");
  CHECK(f.made() == before); // unrelated entries stay
  CHECK(a.compilations() == 2);
  CHECK(a.cache.statistics().invalidations == 0);
  a.of.redefine(scale_by("10.0"));
  CHECK(a.cache.statistics().entries == 0); // evicted
  CHECK(a.cache.statistics().invalidations == 2);
  CHECK(f(1.0) == 11.0); // then recompiled
  CHECK(h(1.0) == 11.0);
  CHECK(a.compilations() == 3);
}

TEST_CASE("redefining a function as it is changes nothing") {
  fixture a;
  a.of.define(two_functions);
  auto const f = a.compiled("f");
  CHECK(f(1.0) == 3.0);
  std::uint64_t const world = a.of.world();
  a.of.redefine(two_functions);
  a.of.redefine(scale_by("2.0"));
  a.of.redefine(
      "func @scale(%other_name: f64) -> f64 {\n  %p = mul %other_name, 2.0 : f64\n  return %p\n}\n");
  a.of.define(two_functions);
  CHECK(a.of.world() == world);
  CHECK(f(1.0) == 3.0);
  CHECK(a.compilations() == 1);
}

TEST_CASE("a replaced artifact is freed after its last run") {
  fixture a;
  a.of.define(two_functions);
  auto const f = a.compiled("f");
  std::weak_ptr<od::artifact const> const old = f.made();
  a.of.redefine(scale_by("3.0"));
  CHECK(f(1.0) == 4.0);
  CHECK(old.expired());
}

TEST_CASE("changes that would make the library invalid are rejected, and nothing changes") {
  od::library of;
  of.define(two_functions);
  std::uint64_t const world = of.world();
  CHECK_THROWS_WITH(
      of.define(scale_by("3.0")), Catch::Contains("@scale has another definition already; redefine it"));
  CHECK_THROWS_AS(
      of.define("func @g(%x: f64) -> f64 {\n  %y = call @nowhere(%x) : f64\n  return %y\n}\n"),
      ir::parse_error);
  CHECK_THROWS_WITH(of.remove("scale"), Catch::Contains("@scale cannot be removed, since @f refers to it"));
  CHECK_THROWS_WITH(of.remove("nowhere"), Catch::Contains("@nowhere is not defined in the library"));
  CHECK_THROWS_WITH(
      of.redefine("func @scale(%x: i64) -> i64 {\n  return %x\n}\n"),
      Catch::Contains("would not be valid with the new @scale"));
  CHECK_THROWS_WITH(
      of.function<double(double)>("nowhere")(1.0), Catch::Contains("@nowhere is not defined in the library"));
  CHECK_THROWS_AS(of.function<double(i64)>("f")(1), od::argument_error);
  CHECK(of.world() == world);
  CHECK(of.function<double(double)>("f")(3.0) == 7.0);
  of.remove("f");
  of.remove("scale");
  CHECK(of.names().empty());
}

TEST_CASE("a function and its callers can be redefined together") {
  od::library of;
  of.define(two_functions);
  auto const f = of.function<double(double)>("f");
  CHECK(f(1.0) == 3.0);
  of.redefine(R"(
func @scale(%x: i64) -> i64 {
  %y = mul %x, 3 : i64
  return %y
}
func @f(%x: f64) -> f64 {
  %i = convert %x : i64
  %y = call @scale(%i) : i64
  %z = convert %y : f64
  return %z
}
)");
  CHECK(f(5.0) == 15.0);
}

namespace {

od::library models; // a pass changes it
int changes = 0;
struct redefining : od::context {
  static void before_optimise(ir::program&) { models.redefine(scale_by(std::to_string(++changes) + ".0")); }
};

} // namespace

TEST_CASE("a pass that redefines its function does not loop: a call ends in the world in which it began") {
  models.define(two_functions);
  od::compilation_cache cache;
  auto const f = od::compile(
      redefining{}, models.function<double(double)>("f"), od::signature<double>, {.cache = &cache});
  CHECK(f(1.0) == 3.0); // the definition when the call began
  CHECK(changes == 1);
  CHECK(f(1.0) == 2.0);
  CHECK(changes == 2);
  CHECK(cache.statistics().entries <= 1);
}

TEST_CASE("a failed compilation leaves the library unchanged, and later worlds compile") {
  fixture a;
  a.of.define(two_functions);
  auto const f = a.compiled("f");
  CHECK(f(1.0) == 3.0);
  a.of.redefine("func @scale(%x: f64) -> f64 {\n  %y = host ordered \"unknown\"(%x) : f64\n  return %y\n}\n");
  CHECK_THROWS_AS(f(1.0), od::host_error);
  CHECK_THROWS_AS(f(1.0), od::host_error);
  a.of.redefine(scale_by("4.0"));
  CHECK(f(1.0) == 5.0);
}

namespace {

// Replaces each literal summand by its fingerprint.
struct adding : od::context {
  int by = 0;
  int fingerprint() const { return by; }
  static void before_optimise(ir::program& p, int by) {
    for (std::uint32_t f = 0; f < p.functions.size(); ++f)
      for (ir::cursor c(p, ir::function_id{f}); c.next();)
        if (c.code() == ir::op::add) c.set_operand(c.node(), 1, c.literal(static_cast<double>(by)));
  }
};

} // namespace

TEST_CASE("a context that changes before its function is compiled shares no program of another fingerprint") {
  fixture a;
  a.of.define(two_functions);
  adding c;
  c.by = 1;
  auto const f = od::compile(c, a.of.function<double(double)>("f"), od::signature<double>, a.options());
  c.by = 10;
  CHECK(f(1.0) == 12.0);
  adding other;
  other.by = 1;
  CHECK(
      od::compile(other, a.of.function<double(double)>("f"), od::signature<double>, a.options())(1.0) == 3.0);
}
