// Ranges of indices over all iterations of nested loops, and the accesses that one check before the loop covers.
#include "catch.hpp"

#include <overdub/implementation/ir/index_ranges.hpp>
#include <overdub/ir/parse.hpp>
#include <overdub/ir/regions.hpp>
#include <overdub/ir/walk.hpp>

#include <string>

namespace {

using namespace overdub::ir;

// The plan of the check before the first loop of the first function.
std::string ahead_of(std::string const& text) {
  program const p = parse(text);
  function const& f = p[function_id{0}];
  node_id first = nothing;
  walk(f, function::body, [&](node_id n) {
    if (first == nothing && is_counted(f[n].code)) first = n;
  });
  in_place_arrays const in_place(f, use_order(f));
  return text_of(plan_ahead(f, in_place, known_in_range(f), f.region_at(first, 0)), p, f);
}

// Two nested maps, with %i and %j, over %n and what `before` makes as %count; `body` reads %e.
std::string nest(std::string const& body, std::string const& before = "", std::string const& count = "%m") {
  return ahead_of(
      "func @f(%x: f64[], %xs: f64[][], %n: i64, %m: i64, %b: bool, %k: i64[]) -> f64[][] {\n"
      "  %out = map %n (%i: i64) -> f64[] {\n" +
      before + "    %row = map " + count + " (%j: i64) -> f64 {\n" + body +
      "      yield %e\n    }\n    yield %row\n  }\n  return %out\n}\n");
}
// The check of the index %at of %x in the inner map.
std::string
check_of(std::string const& operations, std::string const& before = "", std::string const& count = "%m") {
  return nest(operations + "      %e = at %x, %at : f64\n", before, count);
}
// The trip counts of both loops.
std::string const loops = "loop %i: trip count %n\nloop %j: trip count %m\n";

} // namespace

TEST_CASE("an index has the range of its loop, of an operation on ranges, or of a value before the loop") {
  CHECK(
      check_of("      %p = mul %i, %m : i64\n      %q = sub %m, 1 : i64\n      %r = mul %j, %q : i64\n"
               "      %at = sub %p, %r : i64\n") ==
      loops + "%e = at of %x in loop %j:\n"
              "  axis 0: sub(mul(%i, %m), mul(%j, sub(%m, 1))) varies with %i and %j and may overflow\n");
  CHECK(
      nest("      %e = at %x, %i : f64\n") ==
      loops + "%e = at of %x in loop %j:\n  axis 0: %i varies with %i\n");
  CHECK(nest("      %e = at %x, %n : f64\n") == loops + "%e = at of %x in loop %j:\n  axis 0: %n\n");
  CHECK(nest("      %e = at %x, 3 : f64\n") == loops + "%e = at of %x in loop %j:\n  axis 0: 3\n");
}

TEST_CASE("all axes are checked, but those whose indices are in range by their definition") {
  CHECK(
      nest("      %e = at %xs, %i, %j : f64\n") ==
      loops + "%e = at of %xs in loop %j:\n  axis 0: %i varies with %i\n  axis 1: %j varies with %j\n");
  CHECK(ahead_of(R"(func @f(%xs: f64[][], %y: f64[], %m: i64) -> f64[][] {
  %n = length %xs : i64
  %out = map %n (%i: i64) -> f64[] {
    %row = map %m (%j: i64) -> f64 {
      %a = at %xs, %i, %j : f64
      yield %a
    }
    yield %row
  }
  return %out
})") == loops + "%a = at of %xs in loop %j:\n  axis 1: %j varies with %j\n");
  CHECK(ahead_of(R"(func @f(%x: f64[]) -> f64[] {
  %n = length %x : i64
  %out = map %n (%i: i64) -> f64 {
    %a = at %x, %i : f64
    yield %a
  }
  return %out
})") == "loop %i: trip count %n\n");
}

TEST_CASE("accesses that another check covers are not checked again") {
  program const p = parse(R"(func @f(%x: f64[], %n: i64) -> f64[] {
  %out = map %n (%i: i64) -> f64 {
    %a = at %x, %i : f64
    %b = at %x, %i : f64
    %c = add %a, %b : f64
    yield %c
  }
  return %out
})");
  function const& f = p[function_id{0}];
  region_id const body = f.region_at(f[function::body].first, 0);
  known_in_range known(f);
  known.set_covered(f[body].first, true);
  in_place_arrays const in_place(f, use_order(f));
  CHECK(
      text_of(plan_ahead(f, in_place, known, body), p, f) ==
      "loop %i: trip count %n\n%b = at of %x:\n  axis 0: %i varies with %i\n");
}

TEST_CASE("an index plus an invariant value is a shifted index, in either order") {
  std::string const shifted = ", is %j shifted by %n\n";
  CHECK(
      check_of("      %at = add %j, %n : i64\n") ==
      loops + "%e = at of %x in loop %j:\n  axis 0: add(%j, %n) varies with %j and may overflow" + shifted);
  CHECK(
      check_of("      %at = add %n, %j : i64\n") ==
      loops + "%e = at of %x in loop %j:\n  axis 0: add(%n, %j) varies with %j and may overflow" + shifted);
  CHECK(
      check_of("      %at = add %j, %i : i64\n") ==
      loops + "%e = at of %x in loop %j:\n  axis 0: add(%j, %i) varies with %j and %i and may overflow\n");
  CHECK(
      check_of("      %at = sub %j, %n : i64\n") ==
      loops + "%e = at of %x in loop %j:\n  axis 0: sub(%j, %n) varies with %j and may overflow\n");
}

TEST_CASE("quotients by positive literals are ranges, and do not overflow") {
  CHECK(
      check_of("      %at = div %j, 2 : i64\n") ==
      loops + "%e = at of %x in loop %j:\n  axis 0: div(%j, 2) varies with %j\n");
  CHECK(check_of("      %at = div %j, -2 : i64\n") == loops);
  CHECK(check_of("      %at = div %j, 0 : i64\n") == loops);
  CHECK(check_of("      %at = div %j, %n : i64\n") == loops);
}

TEST_CASE("operations on ranges of one loop, other operations, and values that are read have no range") {
  CHECK(check_of("      %at = mul %i, %j : i64\n") == loops);
  CHECK(check_of("      %s = mul %i, 2 : i64\n      %at = sub %s, %i : i64\n") == loops);
  CHECK(check_of("      %at = rem %j, 2 : i64\n") == loops);
  CHECK(check_of("      %r = rem %j, 2 : i64\n      %at = add %r, %n : i64\n") == loops);
  CHECK(check_of("      %r = rem %j, 2 : i64\n      %at = add %n, %r : i64\n") == loops);
  CHECK(
      check_of("      %at = at %k, %j : i64\n") ==
      loops + "%at = at of %k in loop %j:\n  axis 0: %j varies with %j\n");
  CHECK(
      ahead_of(
          "func @f(%x: f64[], %n: i64) -> f64 {\n  %r, %s = loop %n (%i: i64, %at: i64 = 0, %t: f64 = 0.0) "
          "-> "
          "(i64, f64) {\n    %e = at %x, %at : f64\n    %next = add %at, 2 : i64\n    yield %next, %e\n  }\n"
          "  return %s\n}") == "loop %i: trip count %n\n");
}

TEST_CASE("chains of more than 16 operations have no range") {
  std::string const wanted = "loop %i: trip count %n\nloop %j: trip count %m\n%e = at";
  auto const chain = [](int length) {
    std::string text = "      %t0 = add %j, 0 : i64\n";
    for (int t = 1; t < length; ++t)
      text += "      %t" + std::to_string(t) + " = add %t" + std::to_string(t - 1) + ", 1 : i64\n";
    return text + "      %at = add %t" + std::to_string(length - 1) + ", 1 : i64\n";
  };
  CHECK(check_of(chain(16)).starts_with(wanted));
  CHECK(check_of(chain(17)) == loops);
}

TEST_CASE("trip counts that vary bound ranges, which may overflow then") {
  CHECK(
      check_of("      %at = add %j, %m : i64\n", "    %c = add %i, 1 : i64\n", "%c") ==
      "loop %i: trip count %n\nloop %j: trip count add(%i, 1) varies with %i and may overflow\n"
      "%e = at of %x in loop %j:\n  axis 0: add(%j, %m) varies with %j and may overflow\n");
  CHECK(
      nest("      %e = at %x, %j : f64\n", "    %c = add %i, 1 : i64\n", "%c") ==
      "loop %i: trip count %n\nloop %j: trip count add(%i, 1) varies with %i and may overflow\n"
      "%e = at of %x in loop %j:\n  axis 0: %j varies with %j and may overflow\n");
  CHECK(
      nest("      %e = at %x, %j : f64\n", "", "%i") ==
      "loop %i: trip count %n\nloop %j: trip count %i varies with %i\n"
      "%e = at of %x in loop %j:\n  axis 0: %j varies with %j\n");
}

TEST_CASE("an index that varies with a loop and with the loop that bounds it is not checked") {
  std::string const triangle = "loop %i: trip count %n\nloop %j: trip count %i varies with %i\n";
  CHECK(check_of("      %at = add %i, %j : i64\n", "", "%i") == triangle);
  // Another loop inside may have no iterations where the index of %i is the least.
  CHECK(nest("      %e = at %x, %i : f64\n", "", "%i") == triangle);
}

TEST_CASE("accesses in loops with unknown trip counts, or with counts of dependent loops, are not covered") {
  std::string const innermost =
      "      %in = map %c (%k: i64) -> f64 {\n        %e1 = at %x, %k : f64\n        yield %e1\n"
      "      }\n      %e = reduce add %in from 0.0 : f64\n";
  auto const deep = [&](std::string const& count, std::string const& middle) {
    return ahead_of(
        "func @f(%x: f64[], %n: i64, %m: i64, %ks: i64[]) -> f64[][] {\n  %out = map %n (%i: i64) -> f64[] "
        "{\n"
        "    %row = map " +
        middle + " (%j: i64) -> f64 {\n" + count + innermost +
        "      yield %e\n    }\n    yield %row\n  }\n  return %out\n}\n");
  };
  CHECK(
      deep("      %c = sub %i, %j : i64\n", "%m") ==
      loops + "loop %k: trip count sub(%i, %j) varies with %i and %j and may overflow\n"
              "%e1 = at of %x in loop %j, %k:\n  axis 0: %k varies with %k and may overflow\n");
  CHECK(
      deep("      %c = sub %i, %j : i64\n", "%i") ==
      "loop %i: trip count %n\nloop %j: trip count %i varies with %i\n");
  CHECK(
      deep("      %c = at %ks, %j : i64\n", "%m") ==
      loops + "%c = at of %ks in loop %j:\n  axis 0: %j varies with %j\n");
}

TEST_CASE("accesses in branches, conditions and reductions by a region are not covered, those that add are") {
  CHECK(
      nest("      %e = if %b -> f64 {\n        %r = at %x, %j : f64\n        yield %r\n      } else { yield "
           "0.0 }\n") == loops);
  CHECK(ahead_of(R"(func @f(%x: f64[], %zeros: f64[], %n: i64) -> f64[] {
  %w = loop %n (%i: i64, %v: f64[] = %zeros) -> f64[] {
    %sum = accumulate (%acc: acc f64[] = %zeros) -> f64[] {
      %e = at %x, %i : f64
      add_to %acc, %i, %e
      yield
    }
    yield %sum
  }
  return %w
})") == "loop %i: trip count %n\n%e = at of %x:\n  axis 0: %i varies with %i\n");
  CHECK(ahead_of(R"(func @f(%x: f64[], %zeros: f64[], %n: i64) -> f64[] {
  %sum = accumulate (%acc: acc f64[] = %zeros) -> f64[] {
    map %n (%i: i64) {
      add_to %acc, %i, 1.0
      yield
    }
    yield
  }
  return %sum
})") == "loop %i: trip count %n\nadd_to of %acc:\n  axis 0: %i varies with %i\n");
}

TEST_CASE(
    "arrays that are created in the loop are not checked before it, those that it updates in place are") {
  CHECK(nest("      %a = array 1.0, 2.0 : f64[]\n      %e = at %a, %j : f64\n") == loops);
  CHECK(
      ahead_of(R"(func @f(%x: f64[], %n: i64) -> f64[] {
  %y = loop %n (%i: i64, %v: f64[] = %x) -> f64[] {
    %e = at %v, %i : f64
    %h = add %i, 1 : i64
    %w = update %v, %h, %e : f64[]
    %u = update %w, %i, 0.0 : f64[]
    yield %u
  }
  return %y
})") == "loop %i: trip count %n\n"
        "%e = at of %v:\n  axis 0: %i varies with %i\n"
        "%w = update of %v:\n  axis 0: add(%i, 1) varies with %i and may overflow, is %i shifted by 1\n"
        "%u = update of %v:\n  axis 0: %i varies with %i\n");
  // A loop-carried array that each iteration replaces.
  CHECK(ahead_of(R"(func @f(%x: f64[], %n: i64) -> f64[] {
  %y = loop %n (%i: i64, %v: f64[] = %x) -> f64[] {
    %e = at %v, %i : f64
    %w = fill %i, %e : f64[]
    yield %w
  }
  return %y
})") == "loop %i: trip count %n\n");
}
