// The dependence analysis: what depends on a parameter by data, by control, and by sizes; and what functions call.
#include "catch.hpp"

#include <overdub/implementation/ir/dependents.hpp>
#include <overdub/implementation/ir/names_of_values.hpp>
#include <overdub/ir/calls.hpp>
#include <overdub/ir/parse.hpp>

#include <cstdint>
#include <string>

namespace {

namespace od = overdub;
using od::ir::value_id;

// The named values that depend on the first parameter, and, after a bar, the arrays whose sizes do.
std::string dependents_of(char const* text, od::ir::dependence_rules const& rules, bool is_size = false) {
  od::ir::program const p = od::ir::parse(std::string("entry @f\n") + text);
  od::ir::function const& f = p[p.entry];
  value_id const first = f.parameters()[0];
  od::ir::dependents::sources from;
  (is_size ? from.sizes : from.values) = {&first, 1};
  od::ir::dependents const known(f, from, rules);
  od::ir::names_of_values const names(p, f);
  std::string values, sizes;
  for (std::uint32_t i = 0; i < f.value_count(); ++i) {
    value_id const v{i};
    if (known.of(v)) values += names[v] + " ";
    if (known.of_size(v)) sizes += names[v] + " ";
  }
  return values + "|" + (sizes.empty() ? "" : " ") + sizes;
}

char const* const loop = R"(func @f(%x: f64, %y: f64, %n: i64) -> f64 {
  %z = add %y, 1.0 : f64
  %s, %t = loop %n (%i: i64, %a: f64 = %y, %b: f64 = %z) -> (f64, f64) {
    %c = mul %x, %b : f64
    %d = add %b, %y : f64
    yield %c, %d
  }
  %r = mul %s, %t : f64
  return %r
})";

} // namespace

TEST_CASE("by data, a value depends on what flows into it, around loops and through results") {
  CHECK(dependents_of(loop, {}) == "%x %s %a %c %r |");
  CHECK(
      dependents_of(
          R"(func @f(%x: bool, %y: f64) -> f64 {
  %a = if %x -> f64 { yield %y } else { yield 1.0 }
  return %a
})",
          {}) == "%x |");
}

TEST_CASE("by control, an operation with regions that uses a dependent value depends as a whole, without its "
          "index") {
  CHECK(dependents_of(loop, {.has_control = true}) == "%x %s %t %a %b %c %d %r |");
  CHECK(
      dependents_of(
          R"(func @f(%x: bool, %y: f64) -> (f64, f64) {
  %a = if %x -> f64 { yield %y } else { yield 1.0 }
  %b = map 3 (%i: i64) -> f64 {
    %c = if %x -> f64 { yield %y } else { yield 1.0 }
    %d = convert %i : f64
    %e = mul %d, %y : f64
    %g = add %c, %e : f64
    yield %g
  }
  %h = at %b, 0 : f64
  return %a, %h
})",
          {.has_control = true}) == "%x %a %b %c %g %h |");
}

TEST_CASE("a rule may stop a dependence at an operation, or at a type") {
  CHECK(dependents_of(loop, {.passes = [](od::ir::node_id) { return false; }}) == "%x |");
  CHECK(
      dependents_of(
          R"(func @f(%x: f64) -> f64 {
  %a = convert %x : i64
  %b = convert %a : f64
  return %b
})",
          {.carries = [](od::ir::type t) { return t == od::ir::f64; }}) == "%x |");
}

TEST_CASE("sizes depend apart from elements: length reads the size, and a size that is a dependent number "
          "depends") {
  od::ir::dependence_rules const rules{.has_control = true, .has_sizes = true};
  char const* const text = R"(func @f(%x: f64[], %y: f64[]) -> (f64, i64, f64[]) {
  %a = at %x, 0 : f64
  %n = length %x : i64
  %z = fill %n, 1.0 : f64[]
  %m = length %z : i64
  return %a, %m, %z
})";
  CHECK(dependents_of(text, rules) == "%x %a |");
  CHECK(dependents_of(text, rules, true) == "%n %z %m | %x %z ");
}

TEST_CASE("numbers that are computed from an array of dependent size depend; versions of it do not") {
  char const* const text = R"(func @len(%a: f64[]) -> i64 {
  %n = length %a : i64
  return %n
}
func @f(%x: f64[], %y: f64) -> (i64, f64, f64) {
  %n = call @len(%x) : i64
  %s = reduce add %x from 0.0 : f64
  %b = update %x, 0, %y : f64[]
  %e = at %b, 0 : f64
  return %n, %s, %e
})";
  CHECK(dependents_of(text, {.has_control = true, .has_sizes = true}, true) == "%n %s | %x %b ");
}

TEST_CASE("the size of a loop-carried array depends inside of the loop, too, if an iteration changes it") {
  char const* const text = R"(func @f(%x: i64, %y: f64[]) -> i64 {
  %s = loop 3 (%i: i64, %a: f64[] = %y) -> f64[] {
    %n = length %a : i64
    %m = add %n, %x : i64
    %b = fill %m, 1.0 : f64[]
    yield %b
  }
  %r = length %s : i64
  return %r
})";
  CHECK(dependents_of(text, {.has_control = true, .has_sizes = true}) == "%x %s %a %n %m %b %r | %s %a %b ");
}

TEST_CASE("a function has an operation if one that it calls has it, also where functions call each other") {
  od::ir::program const p = od::ir::parse(R"(entry @main
func @even(%x: f64) -> f64 {
  %r = call @odd(%x) : f64
  return %r
}
func @odd(%x: f64) -> f64 {
  %c = lt %x, 0.0 : bool
  %y = sub %x, 1.0 : f64
  %r = if %c -> f64 {
    %e = exp %x : f64
    yield %e
  } else {
    %z = call @even(%y) : f64
    yield %z
  }
  return %r
}
func @other(%x: f64) -> f64 {
  %r = log %x : f64
  return %r
}
func @main(%x: f64) -> f64 {
  %a = call @other(%x) : f64
  %b = call @even(%a) : f64
  return %b
})");
  auto const all =
      functions_with(p, od::ir::call_components(p), [](od::ir::function const& f, od::ir::node_id n) {
        return f[n].code == od::ir::op::exp;
      });
  for (char const* const name : {"even", "odd", "main"}) CHECK(all[index_of(*p.find(name))]);
  CHECK_FALSE(all[index_of(*p.find("other"))]);
}
