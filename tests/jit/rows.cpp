// Nested maps write rows of the outer map's array in place.
#include "execute/texts.hpp"

namespace {

using namespace overdub;

void agree(std::string_view text, std::initializer_list<std::string_view> all) {
  ir::program const p = texts::program(text);
  for (std::string_view const arguments : all)
    for (int level = 0; level <= 3; ++level) {
      INFO("level " << level << ", of " << arguments);
      CHECK(
          texts::outcome_of(jit::compile(p, {}, {.optimisation = level}), arguments) ==
          texts::outcome_of(executable(p), arguments));
    }
}

} // namespace

TEST_CASE("rows of one size are computed in their array, and read there") {
  agree(
      R"(func @f(%n: i64, %m: i64, %x: f64[]) -> (f64[][], f64[], f64[][]) {
    %a, %b, %c = map %n (%i: i64) -> (f64[], f64, f64[]) {
      %row = map %m (%j: i64) -> f64 { %e = at %x, %j : f64 %k = convert %i : f64 %p = mul %e, %k : f64 yield %p }
      %s = reduce add %row from 0.0 : f64
      %other = map %m (%j2: i64) -> f64 { %q = at %row, %j2 : f64 %r = add %q, 1.0 : f64 yield %r }
      yield %row, %s, %other
    }
    return %a, %b, %c
  })",
      {"3, 2, [1.0, 2.0]", "0, 2, [1.0, 2.0]", "3, 0, []", "3, -1, [1.0]", "0, -1, [1.0]",
       "-1, 2, [1.0, 2.0]", "3, 3, [1.0, 2.0]"});
}

TEST_CASE("rows with other uses, repeated rows, and rows of different sizes are copied") {
  agree(
      R"(func @f(%n: i64, %m: i64) -> (f64[][], f64[][], f64[]) {
    %z = fill %m, 7.0 : f64[]
    %a, %b, %c = map %n (%i: i64) -> (f64[], f64[], f64) {
      %row = map %m (%j: i64) -> f64 { %k = add %i, %j : i64 %e = convert %k : f64 yield %e }
      %u = update %row, 0, 9.0 : f64[]
      %last = loop %n (%l: i64, %v: f64[] = %row) -> f64[] { %w = update %v, 1, 8.0 : f64[] yield %w }
      %s = reduce add %last from 0.0 : f64
      yield %row, %u, %s
    }
    return %a, %b, %c
  })",
      {"2, 3", "0, 0", "1, 1", "1, 0"});
  agree(
      R"(func @f(%n: i64, %m: i64) -> (f64[][], f64[][]) {
    %a, %b = map %n (%i: i64) -> (f64[], f64[]) {
      %row = map %m (%j: i64) -> f64 { %k = add %i, %j : i64 %e = convert %k : f64 yield %e }
      yield %row, %row
    }
    return %a, %b
  })",
      {"2, 3", "0, 3"});
  agree(
      R"(func @f(%n: i64, %m: i64) -> f64[][] {
    %a = map %n (%i: i64) -> f64[] {
      %size = add %m, %i : i64
      %row = map %size (%j: i64) -> f64 { %e = convert %j : f64 yield %e }
      yield %row
    }
    return %a
  })",
      {"1, 3", "2, 3", "0, 3"});
}

TEST_CASE("an error in the first row precedes the out-of-memory error of the array") {
  agree(
      R"(func @f(%n: i64, %m: i64, %x: f64[]) -> f64[][] {
    %a = map %n (%i: i64) -> f64[] {
      %row = map %m (%j: i64) -> f64 { %e = at %x, %j : f64 yield %e }
      yield %row
    }
    return %a
  })",
      {"1099511627776, 1048576, []", "4611686018427387904, 4, []", "4, 4611686018427387904, [1.0]",
       "2, 1, [3.0]"});
}

TEST_CASE("rows of bools, of integers, and in a map of matrices are correct") {
  agree(
      R"(func @f(%n: i64, %m: i64) -> (bool[][], i64[][], f32[][][]) {
    %a, %b = map %n (%i: i64) -> (bool[], i64[]) {
      %p = map %m (%j: i64) -> bool { %e = lt %i, %j : bool yield %e }
      %q = map %m (%j2: i64) -> i64 { %g = mul %i, %j2 : i64 yield %g }
      yield %p, %q
    }
    %c = map %n (%i2: i64) -> f32[][] {
      %rows = map %m (%j3: i64) -> f32[] {
        %row = map %n (%k: i64) -> f32 { %s = add %k, %j3 : i64 %t = add %s, %i2 : i64 %h = convert %t : f32 yield %h }
        yield %row
      }
      yield %rows
    }
    return %a, %b, %c
  })",
      {"2, 3", "3, 0", "0, 2"});
}
