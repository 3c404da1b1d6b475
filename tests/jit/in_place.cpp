// Loop-carried arrays are updated in place; arrays that shared their buffers are unchanged.
#include "execute/texts.hpp"

namespace {

using namespace overdub;

void agree(std::string_view text, std::string_view arguments) {
  ir::program const p = texts::program(text);
  std::string const expected = texts::outcome_of(executable(p), arguments);
  for (int level = 0; level <= 3; ++level) {
    INFO("level " << level);
    CHECK(texts::outcome_of(jit::compile(p, {}, {.optimisation = level}), arguments) == expected);
  }
}

} // namespace

TEST_CASE("an array that is updated in a loop uses one buffer") {
  auto inst = jit::compile(texts::program(R"(func @f(%n: i64) -> f64 {
    %a = fill %n, 1.0 : f64[]
    %b = loop %n (%i: i64, %x: f64[] = %a) -> f64[] {
      %c = loop %n (%j: i64, %y: f64[] = %x) -> f64[] {
        %e = at %y, %i : f64
        %odd = lt %e, 3.0 : bool
        %z = if %odd -> f64[] { %g = add %e, 1.0 : f64 %h = update %y, %j, %g : f64[] yield %h } else { yield %y }
        yield %z
      }
      yield %c
    }
    %s = reduce add %b : f64
    return %s
  })"))
                  .instance();
  CHECK(inst.call<double>(100) == 299);
  CHECK(inst.array_bytes() < 1024);
}

TEST_CASE("arrays that are live, used twice, or exchanged, are not overwritten") {
  agree(
      R"(func @f(%x: f64[], %n: i64) -> (f64[], f64[], f64[], f64[], f64[]) {
    %a = fill %n, 1.0 : f64[]
    %b = loop %n (%i: i64, %y: f64[] = %a) -> f64[] { %c = update %y, %i, 2.0 : f64[] yield %c }
    %d, %e = loop %n (%j: i64, %u: f64[] = %a, %v: f64[] = %a) -> (f64[], f64[]) {
      %w = update %u, %j, 3.0 : f64[]
      %w2 = update %v, 0, 4.0 : f64[]
      yield %w2, %w
    }
    %g = loop %n (%k: i64, %h: f64[] = %x) -> f64[] {
      %t = at %a, %k : f64
      %l = update %h, %k, %t : f64[]
      yield %l
    }
    return %a, %b, %d, %e, %g
  })",
      "[5.0, 6.0, 7.0], 3");
}

TEST_CASE("loops that stack their array, yield it twice, or fail midway are correct") {
  agree(
      R"(func @f(%x: f64[], %n: i64) -> (f64[], f64[], f64[][]) {
    %a, %b, %all = loop %n (%i: i64, %y: f64[] = %x, %z: f64[] = %x) -> (f64[], f64[]) stack f64[] {
      %c = update %y, %i, 2.0 : f64[]
      yield %c, %c, %z
    }
    return %a, %b, %all
  })",
      "[5.0, 6.0, 7.0], 3");
  agree(
      R"(func @f(%x: f64[], %n: i64) -> f64[] {
    %a = loop %n (%i: i64, %y: f64[] = %x) -> f64[] { %c = update %y, %i, 2.0 : f64[] yield %c }
    return %a
  })",
      "[5.0, 6.0, 7.0], 4");
}

TEST_CASE("rows that are read while their matrix is updated are correct") {
  agree(
      R"(func @f(%m: f64[][], %n: i64) -> (f64[][], f64) {
    %first = at %m, 0 : f64[]
    %a = loop %n (%i: i64, %y: f64[][] = %m) -> f64[][] {
      %row = at %y, %i : f64[]
      %e = at %row, 0 : f64
      %c = update %y, 0, 0, %e : f64[][]
      %g = at %row, 0 : f64
      %h = update %c, %i, 1, %g : f64[][]
      %k = update %h, 0, %row : f64[][]
      yield %k
    }
    %z = at %first, 0 : f64
    return %a, %z
  })",
      "[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], 3");
}

TEST_CASE("functions that update their parameters copy those that the caller uses later") {
  agree(
      R"(func @f(%n: i64) -> (f64[], f64[], f64[]) {
    %a = fill %n, 1.0 : f64[]
    %b = call @set(%a, %a) : f64[]
    %g = closure @set(%b) : fn(f64[]) -> f64[]
    %c = apply %g(%a) : f64[]
    return %a, %b, %c
  }
  func @set(%x: f64[], %y: f64[]) -> f64[] {
    %e = at %y, 1 : f64
    %s = add %e, 1.0 : f64
    %z = update %x, 0, %s : f64[]
    return %z
  })",
      "3");
}
