// The shape analysis: which trip counts and arrays are invariant, and which parameters determine results.
#include "catch.hpp"

#include <overdub/implementation/ir/shapes.hpp>
#include <overdub/ir/parse.hpp>

#include <cstdint>
#include <string>

namespace {

namespace od = overdub;

std::string shapes_of(char const* text) {
  od::ir::program const p = od::ir::parse(text);
  od::ir::function const& f = p[p.entry];
  od::ir::result_shapes const callees(p);
  return text_of(od::ir::shapes(f, &callees), p, f);
}

// The parameters that determine the shape of the first result.
std::string parameters_of(char const* text) {
  od::ir::program const p = od::ir::parse(std::string("entry @f\n") + text);
  od::ir::result_shapes const known(p);
  auto const& all = known.of(p.entry, 0);
  if (!all) return "not known";
  std::string found;
  for (std::uint32_t const k : *all) found += std::to_string(k);
  return found;
}

} // namespace

TEST_CASE("loop-carried arrays keep their shape through maps, updates, branches and nested loops, and lose "
          "it otherwise") {
  CHECK(
      shapes_of(R"(entry @main
func @main(%x: f64[], %first: f64[]) -> f64[] {
  %n = length %x : i64
  %kept, %longer = loop %n (%t: i64, %s: f64[] = %first, %r: f64[] = %first) -> (f64[], f64[]) {
    %e = at %x, %t : f64
    %m = length %s : i64
    %mapped = map %m (%i: i64) -> f64 {
      %a = at %s, %i : f64
      %b = mul %a, %e : f64
      yield %b
    }
    %c = gt %e, 0.0 : bool
    %chosen = if %c -> f64[] { yield %mapped } else {
      %u = update %s, 0, %e : f64[]
      yield %u
    }
    %inner = loop 3 (%k: i64, %v: f64[] = %chosen) -> f64[] {
      %w = update %v, %k, 1.0 : f64[]
      yield %w
    }
    %more = length %r : i64
    %count = add %more, 1 : i64
    %grown = fill %count, %e : f64[]
    yield %inner, %grown
  }
  return %kept
})") == "%kept = loop: trip count, loop-carried %s, result %kept, result %longer\n"
        "%mapped = map: trip count, result %mapped\n"
        "%inner = loop: trip count, loop-carried %v, result %inner\n");
}

TEST_CASE("trip counts are invariant if they are lengths of rows of one array, and ragged if they depend on "
          "the iteration") {
  CHECK(
      shapes_of(R"(entry @main
func @main(%x: f64[][]) -> f64 {
  %n = length %x : i64
  %sums = map %n (%i: i64) -> f64 {
    %row = at %x, %i : f64[]
    %m = length %row : i64
    %less = sub %m, 1 : i64
    %even = map %less (%j: i64) -> f64 {
      %a = at %row, %j : f64
      yield %a
    }
    %ragged = map %i (%k: i64) -> f64 {
      %b = at %row, %k : f64
      yield %b
    }
    %last = loop %m (%t: i64, %s: f64[] = %ragged) -> f64[] {
      yield %s
    }
    %p = reduce add %even from 0.0 : f64
    %q = reduce add %last from 0.0 : f64
    %sum = add %p, %q : f64
    yield %sum
  }
  %total = reduce add %sums from 0.0 : f64
  return %total
})") == "%sums = map: trip count, result %sums\n"
        "%even = map: trip count, result %even\n"
        "%ragged = map: nothing\n"
        "%last = loop: trip count, loop-carried %s\n");
}

TEST_CASE("loop-carried arrays that are exchanged keep their shape if all begin with the same one") {
  CHECK(
      shapes_of(R"(entry @main
func @main(%n: i64, %m: i64) -> f64[] {
  %zeros = fill %n, 0.0 : f64[]
  %ones = fill %n, 1.0 : f64[]
  %twos = fill %m, 2.0 : f64[]
  %p, %q = loop %n (%t: i64, %a: f64[] = %zeros, %b: f64[] = %ones) -> (f64[], f64[]) {
    yield %b, %a
  }
  %r, %s = loop %n (%u: i64, %c: f64[] = %zeros, %d: f64[] = %twos) -> (f64[], f64[]) {
    yield %d, %c
  }
  %all = concat %p, %q, %r, %s : f64[]
  return %all
})") == "%p = loop: trip count, loop-carried %a, loop-carried %b, result %p, result %q\n"
        "%r = loop: trip count, result %r, result %s\n");
}

TEST_CASE("a loop-carried array has the length of a loop-carried count, as long as the count is invariant") {
  char const* const text = R"(entry @main
func @main(%n: i64) -> f64[] {
  %zeros = fill %n, 0.0 : f64[]
  %k, %x = loop 4 (%t: i64, %count: i64 = %n, %a: f64[] = %zeros) -> (i64, f64[]) {
    %b = fill %count, 1.0 : f64[]
    yield {}, %b
  }
  return %x
})";
  std::string same = text, more = text;
  same.replace(same.find("{}"), 2, "%count");
  more.replace(more.find("    yield"), 0, "    %next = add %count, 1 : i64\n")
      .replace(more.find("{}"), 2, "%next");
  CHECK(shapes_of(same.c_str()) == "%k = loop: trip count, loop-carried %a, result %x\n");
  CHECK(shapes_of(more.c_str()) == "%k = loop: trip count, result %x\n");
}

TEST_CASE("the shape of a call's result depends on arguments") {
  char const* const text = R"(entry @main
func @ones(%x: f64[], %n: i64, %unused: f64) -> f64[] {
  %m = length %x : i64
  %both = add %m, %n : i64
  %made = fill %both, %unused : f64[]
  return %made
}
func @main(%x: f64[], %n: i64) -> f64 {
  %sums = map %n (%i: i64) -> f64 {
    %e = at %x, %i : f64
    %fixed = call @ones(%x, %n, %e) : f64[]
    %ragged = call @ones(%x, %i, %e) : f64[]
    %l = length %fixed : i64
    %k = length %ragged : i64
    %a = map %l (%j: i64) -> f64 { yield %e }
    %b = map %k (%h: i64) -> f64 { yield %e }
    %p = reduce add %a from 0.0 : f64
    %q = reduce add %b from 0.0 : f64
    %r = add %p, %q : f64
    yield %r
  }
  %sum = reduce add %sums from 0.0 : f64
  return %sum
})";
  CHECK(
      shapes_of(text) ==
      "%sums = map: trip count, result %sums\n%a = map: trip count, result %a\n%b = map: nothing\n");
}

TEST_CASE("equality of lengths is known only in the branch that compares them") {
  char const* const text = R"(entry @main
func @main(%c: bool, %x: f64[], %y: f64[]) -> f64[] {
  %r = loop 3 (%t: i64, %a: f64[] = %x) -> f64[] {
    %next = if %c -> f64[] {
      %n = length %a, %y : i64
      %made = fill %n, 1.0 : f64[]
      yield %made
    } else { yield {} }
    yield %next
  }
  return %r
})";
  std::string other = text, same = text, both = text;
  other.replace(other.find("{}"), 2, "%y");
  same.replace(same.find("{}"), 2, "%a");
  both.replace(
      both.find("yield {}"), 8, "%m = length %y, %a : i64\n      %k = fill %m, 1.0 : f64[]\n      yield %k");
  CHECK(shapes_of(other.c_str()) == "%r = loop: trip count, result %r\n");
  CHECK(shapes_of(same.c_str()) == "%r = loop: trip count, loop-carried %a, result %r\n");
  CHECK(shapes_of(both.c_str()) == "%r = loop: trip count, loop-carried %a, result %r\n");
}

TEST_CASE("the second region of protect yields no results") {
  CHECK(parameters_of(R"(func @f(%x: f64[], %n: i64) -> f64[] {
  %y = protect -> f64[] { yield %x } failed { yield }
  return %y
})") == "0");
}

TEST_CASE("parameters determine the shapes of results") {
  CHECK(parameters_of("func @f(%x: f64[], %y: f64[]) -> f64[] {\n  return %y\n}") == "1");
  CHECK(
      parameters_of("func @f(%n: i64, %m: i64) -> f64[] {\n  %a = mul %m, %n : i64\n  %x = fill %a, 0.0 : "
                    "f64[]\n  return %x\n}") == "10");
  CHECK(parameters_of("func @f() -> f64[] {\n  %x = fill 3, 0.0 : f64[]\n  return %x\n}") == "");
  CHECK(parameters_of(R"(func @f(%c: bool, %x: f64[], %y: f64[]) -> f64[] {
  %z = if %c -> f64[] { yield %x } else { yield %y }
  return %z
})") == "not known");
  CHECK(parameters_of(R"(func @f(%c: bool, %x: f64[]) -> f64[] {
  %z = if %c -> f64[] {
    %u = update %x, 0, 1.0 : f64[]
    yield %u
  } else { yield %x }
  return %z
})") == "1");
  CHECK(parameters_of(R"(func @f(%x: i64[]) -> f64[] {
  %n = at %x, 0 : i64
  %z = fill %n, 0.0 : f64[]
  return %z
})") == "not known");
  CHECK(parameters_of(R"(func @f(%n: i64, %x: f64[]) -> f64[] {
  %c = gt %n, 0 : bool
  %z = if %c -> f64[] {
    %m = sub %n, 1 : i64
    %r = call @f(%m, %x) : f64[]
    yield %r
  } else { yield %x }
  return %z
})") == "not known");
}
