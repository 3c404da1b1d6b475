// Results of control flow, and evaluation order, computed by hand.
#include "texts.hpp"

using texts::gives;

TEST_CASE("if runs one branch") {
  gives(
      R"(func @f(%c: bool, %n: i64) -> (i64, i64) {
        %a, %b = if %c -> (i64, i64) { yield 1, %n } else { %q = div 1, %n : i64  yield %q, 0 }
        return %a, %b
      })",
      "true, 0", "1, 0");
  gives(
      "func @f(%c: bool) -> i64 { %a = if %c -> i64 { yield 1 } else { yield 2 } return %a }", "false", "2");
}

TEST_CASE("results of branches may be permuted") {
  gives(
      R"(func @f(%c: bool, %x: f64, %y: f64) -> (f64, f64) {
        %a, %b = if %c -> (f64, f64) { yield %x, %y } else { yield %y, %x }
        return %a, %b
      })",
      "false, 1.0, 2.0", "2.0, 1.0");
}

TEST_CASE("a loop has loop-carried values, permutes them, and stacks others by the index") {
  gives(
      R"(func @fibonacci(%n: i64) -> (i64, i64[]) {
        %a, %b, %all = loop %n (%i: i64, %x: i64 = 0, %y: i64 = 1) -> (i64, i64) stack i64 {
          %z = add %x, %y : i64
          yield %y, %z, %x
        }
        return %a, %all
      })",
      "10", "55, [0, 1, 1, 2, 3, 5, 8, 13, 21, 34]");
  gives(
      R"(func @reversed(%n: i64) -> (i64, i64[]) {
        %last, %all = loop reversed %n (%i: i64, %s: i64 = 0) -> i64 stack i64 {
          %t = add %s, %i : i64
          yield %t, %t
        }
        return %last, %all
      })",
      "4", "6, [6, 6, 5, 3]");
}

TEST_CASE("a loop that rotates loop-carried values") {
  gives(
      R"(func @f(%n: i64) -> (i64, i64, i64) {
        %a, %b, %c = loop %n (%i: i64, %x: i64 = 1, %y: i64 = 2, %z: i64 = 3) -> (i64, i64, i64) {
          yield %y, %z, %x
        }
        return %a, %b, %c
      })",
      "4", "2, 3, 1");
}

TEST_CASE("a loop without iterations returns its initial values, and empty arrays") {
  auto const text = R"(func @f(%n: i64, %x: f64, %a: f64[]) -> (f64, f64[], f64[][]) {
    %r, %all, %rows = loop %n (%i: i64, %s: f64 = %x) -> f64 stack (f64, f64[]) { yield 0.0, 1.0, %a }
    return %r, %all, %rows
  })";
  gives(text, "0, 1.5, [2.0]", "1.5, [] : f64[], [] : f64[][]");
  gives(text, "-3, 1.5, [2.0]", "1.5, [] : f64[], [] : f64[][]");
  gives(text, "2, 1.5, [2.0]", "0.0, [1.0, 1.0], [[2.0], [2.0]]");
}

TEST_CASE("while runs as long as its condition holds, and its outputs grow") {
  gives(
      R"(func @collatz(%n: i64) -> (i64, i64, i64[]) {
        %last, %steps, %all = while (%m: i64 = %n, %k: i64 = 0) -> (i64, i64) stack i64 {
          %more = ne %m, 1 : bool
          yield %more
        } do (%m2: i64, %k2: i64) {
          %odd = bit_and %m2, 1 : i64
          %is_odd = eq %odd, 1 : bool
          %next = if %is_odd -> i64 {
            %t = mul %m2, 3 : i64
            %u = add %t, 1 : i64
            yield %u
          } else {
            %h = shift_right %m2, 1 : i64
            yield %h
          }
          %l = add %k2, 1 : i64
          yield %next, %l, %m2
        }
        return %last, %steps, %all
      })",
      "6", "1, 8, [6, 3, 10, 5, 16, 8, 4, 2]");
}

TEST_CASE("while stacks rows, which must have one size") {
  auto const text = R"(func @f(%n: i64, %m: i64) -> i64[][] {
    %last, %rows = while (%i: i64 = 0) -> i64 stack i64[] {
      %more = lt %i, %n : bool
      yield %more
    } do (%j: i64) {
      %next = add %j, 1 : i64
      %k = mul %j, %m : i64
      %l = add %k, 2 : i64
      %row = iota %l : i64[]
      yield %next, %row
    }
    return %rows
  })";
  gives(text, "3, 0", "[[0, 1], [0, 1], [0, 1]]");
  gives(text, "3, 1", "overdub: while: arrays of different sizes, 2 and 3");
  gives(text, "0, 1", "[] : i64[][]");
}

TEST_CASE("map returns arrays of scalars, bools and arrays") {
  auto const text = R"(func @f(%n: i64, %m: i64) -> (i64[], bool[], i64[][]) {
    %a, %b, %c = map %n (%i: i64) -> (i64, bool, i64[]) {
      %even = bit_and %i, 1 : i64
      %is_even = eq %even, 0 : bool
      %row = map %m (%j: i64) -> i64 {
        %p = mul %i, 10 : i64
        %q = add %p, %j : i64
        yield %q
      }
      yield %even, %is_even, %row
    }
    return %a, %b, %c
  })";
  gives(text, "3, 2", "[0, 1, 0], [true, false, true], [[0, 1], [10, 11], [20, 21]]");
  gives(text, "0, 2", "[] : i64[], [] : bool[], [] : i64[][]");
  gives(text, "2, 0", "[0, 1], [true, false], [[], []] : i64[][]");
  gives(text, "-1, 0", "overdub: map: a size of -1 is negative");
}

TEST_CASE("rows of a map must have one size") {
  gives(
      R"(func @f(%n: i64) -> i64[][] {
        %a = map %n (%i: i64) -> i64[] {
          %row = iota %i : i64[]
          yield %row
        }
        return %a
      })",
      "3", "overdub: map: arrays of different sizes, 0 and 1");
}

TEST_CASE("a map without results still fails if an iteration does") {
  auto const text = R"(func @f(%n: i64, %a: i64[]) -> () {
    map %n (%i: i64) -> () {
      %x = at %a, %i : i64
      %holds = gt %x, 0 : bool
      assert %holds, "positive"
      yield
    }
    return
  })";
  gives(text, "2, [1, 1]", "");
  gives(text, "2, [1, 0]", "overdub: assertion failed: positive");
  gives(text, "3, [1, 1]", "overdub: at: index 2 is out of range for an array of size 2");
  gives(text, "-1, [1]", "overdub: map: a size of -1 is negative");
}

TEST_CASE("the error is that of the first failing element") {
  auto const text = R"(func @f(%a: i64[], %b: i64[]) -> i64[] {
    %n = length %b : i64
    %c = map %n (%i: i64) -> i64 {
      %y = at %b, %i : i64
      %q = div 10, %y : i64
      %x = at %a, %q : i64
      yield %x
    }
    return %c
  })";
  gives(text, "[7, 8, 9], [10, 5]", "[8, 9]");
  gives(text, "[7, 8, 9], [10, 1, 0]", "overdub: at: index 10 is out of range for an array of size 3");
  gives(
      text, "[7, 8, 9], [10, 0, 1]",
      "overdub: an integer was divided by zero; test the divisor first, or divide in floating point");
}

TEST_CASE("sums of floating-point numbers use eight lanes, all other reductions a tree") {
  auto const sum = "func @f(%a: f64[]) -> f64 { %s = reduce add %a : f64 return %s }";
  // ((0+4) + (2+6)) + ((1+5) + (3+7)): small terms are lost when added to large ones
  gives(sum, "[1e16, 1.0, -1e16, 1.0, 1.0, 0.0, 0.0, 0.0]", "2.0");
  gives(sum, "[1e16, 1.0, 1.0, 1.0, -1e16, 0.0, 0.0, 0.0, 1.0]", "3.0");
  auto const difference = "func @f(%a: i64[]) -> i64 { %s = reduce sub %a : i64 return %s }";
  gives(difference, "[1, 2, 3, 4, 5]", "-5"); // ((1-2) - (3-4)) - 5
  gives(difference, "[9]", "9");
  gives(
      difference, "[] : i64[]",
      "overdub: reduce: the array is empty and no initial value is given; write "
      "reduce(f, initial, array)");
  gives("func @f(%a: f64[]) -> f64 { %s = reduce add %a from 0.5 : f64 return %s }", "[] : f64[]", "0.5");
}

TEST_CASE("a reduction by a region may combine several arrays") {
  auto const text = R"(func @largest(%a: f64[]) -> (f64, i64) {
    %n = length %a : i64
    %is = iota %n : i64[]
    %x, %i = reduce %a, %is from -inf, -1 (%x0: f64, %i0: i64, %x1: f64, %i1: i64) -> (f64, i64) {
      %c = lt %x0, %x1 : bool
      %x2 = select %c, %x1, %x0 : f64
      %i2 = select %c, %i1, %i0 : i64
      yield %x2, %i2
    }
    return %x, %i
  })";
  gives(text, "[1.0, 5.0, 3.0, 5.0, 2.0]", "5.0, 1");
  gives(text, "[] : f64[]", "-inf, -1");
}

TEST_CASE("a reduction by a region has the order of the tree, or of the lanes if it is marked") {
  gives(
      R"(func @f(%a: i64[]) -> i64 {
        %s = reduce %a (%x: i64, %y: i64) -> i64 {
          %d = sub %x, %y : i64
          yield %d
        }
        return %s
      })",
      "[1, 2, 3, 4, 5, 6, 7]", "8"); // ((1-2) - (3-4)) - ((5-6) - 7)
  gives(
      R"(func @f(%a: f64[]) -> f64 {
        %s = reduce in_lanes %a (%x: f64, %y: f64) -> f64 {
          %d = add %x, %y : f64
          yield %d
        }
        return %s
      })",
      "[1e16, 1.0, 1.0, 1.0, -1e16, 0.0, 0.0, 0.0, 1.0]", "3.0");
}

TEST_CASE("a reduction by a region combines rows") {
  gives(
      R"(func @f(%a: f64[][]) -> f64[] {
        %r = reduce %a (%x: f64[], %y: f64[]) -> f64[] {
          %n = length %x, %y : i64
          %z = map %n (%i: i64) -> f64 {
            %u = at %x, %i : f64
            %v = at %y, %i : f64
            %w = sub %u, %v : f64
            yield %w
          }
          yield %z
        }
        return %r
      })",
      "[[1.0, 2.0], [3.0, 5.0], [7.0, 11.0]]", "[-9.0, -14.0]");
}

TEST_CASE("accumulators are added to from maps") {
  auto const text = R"(func @histogram(%bins: f64[], %which: i64[]) -> (f64[], i64) {
    %sums, %n = accumulate (%acc: acc f64[] = %bins) -> (f64[], i64) {
      %m = length %which : i64
      map %m (%i: i64) -> () {
        %k = at %which, %i : i64
        add_to %acc, %k, 1.5
        yield
      }
      yield %m
    }
    return %sums, %n
  })";
  gives(text, "[0.0, 1.0], [1, 0, 1]", "[1.5, 4.0], 3");
  gives(text, "[0.0], [0, 1]", "overdub: add_to: index 1 is out of range for an array of size 1");
  gives(
      R"(func @rows(%m: f64[][], %row: f64[]) -> (f64[][], f64[][]) {
        %sums = accumulate (%acc: acc f64[][] = %m) -> f64[][] {
          add_to %acc, 1, %row
          add_to %acc, 0, 1, 0.5
          yield
        }
        return %sums, %m
      })",
      "[[1.0, 2.0], [3.0, 4.0]], [10.0, 20.0]", "[[1.0, 2.5], [13.0, 24.0]], [[1.0, 2.0], [3.0, 4.0]]");
}

TEST_CASE("sums into one element are rounded in the order of the elements") {
  gives(
      R"(func @f(%a: f64[], %into: f64[]) -> f64[] {
        %n = length %a : i64
        %s = accumulate (%acc: acc f64[] = %into) -> f64[] {
          map %n (%i: i64) -> () {
            %x = at %a, %i : f64
            add_to %acc, 0, %x
            %half = mul %x, 0.5 : f64
            add_to %acc, 0, %half
            yield
          }
          yield
        }
        return %s
      })",
      "[1e16, 1.0, -1e16, 1.0], [0.0]", "[1.5]");
}

TEST_CASE("a loop-carried array whose reference is transferred by the iteration that replaces it") {
  auto const text = R"(func @f(%x: i64[], %n: i64) -> (i64[], i64[][], i64[]) {
    %last, %all = loop %n (%i: i64, %a: i64[] = %x) -> i64[] stack i64[] {
      %b = update %a, %i, 7 : i64[]
      yield %b, %a
    }
    %other = fill 3, 9 : i64[]
    return %last, %all, %other
  })";
  gives(text, "[1, 2, 3], 2", "[7, 7, 3], [[1, 2, 3], [7, 2, 3]], [9, 9, 9]");
}
