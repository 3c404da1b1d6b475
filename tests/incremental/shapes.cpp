// The shape analysis of incremental: which trip counts and arrays are invariant.
#include "catch.hpp"

#include <overdub/implementation/incremental/invariant_shapes.hpp>
#include <overdub/ir/parse.hpp>

#include <string>

namespace {

namespace od = overdub;

std::string shapes_of(char const* text) {
  od::ir::program const p = od::ir::parse(text);
  od::ir::function const& f = p[p.entry];
  return od::increments::text_of(od::increments::find_invariant_shapes(f), p, f);
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
        "%mapped = map: nothing\n"
        "%inner = loop: trip count, loop-carried %v\n");
}

TEST_CASE("trip counts are invariant where they are lengths of rows of one array, and ragged where they "
          "depend on the iteration") {
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
