// Vectorised sums of maps: for every short length, with indices in range or not, results equal the interpreter's.
#include "execute/texts.hpp"

#include <array>
#include <cmath>
#include <limits>

namespace {

using namespace overdub;

// The same results and errors, at every level of optimisation.
void agree(std::string_view text, std::vector<std::vector<datum>> const& calls) {
  ir::program const p = texts::program(text);
  executable const reference(p, {}, {.lanes_from = 1'000'000});
  auto const outcome = [](executable const& run, std::vector<datum> const& call) {
    try {
      return texts::text_of_all(run.run(call));
    } catch (error const& e) {
      return std::string(e.what());
    }
  };
  for (int level = 0; level <= 3; ++level) {
    executable const run = jit::compile(p, {}, {.optimisation = level});
    for (auto const& call : calls) {
      INFO("level " << level << ", " << texts::text_of_all(call));
      CHECK(outcome(run, call) == outcome(reference, call));
    }
  }
}

array<double> numbers(i64 n, double scale = 1) {
  std::vector<double> all;
  for (i64 i = 0; i < n; ++i) all.push_back(scale * std::sin(static_cast<double>(i * i + 1)) / 3);
  return array<double>::copy_of(all);
}
array<float> narrow(i64 n) {
  std::vector<float> all;
  for (double const x : numbers(n)) all.push_back(static_cast<float>(x));
  return array<float>::copy_of(all);
}

} // namespace

TEST_CASE("sums of products of every short length are correct") {
  std::vector<std::vector<datum>> calls;
  for (i64 n = 0; n < 42; ++n) calls.push_back({numbers(n), numbers(n, 2)});
  agree(
      R"(func @f(%x: f64[], %y: f64[]) -> f64 {
    %n = length %x, %y : i64
    %p = map %n (%i: i64) -> f64 { %a = at %x, %i : f64 %b = at %y, %i : f64 %c = mul %a, %b : f64 yield %c }
    %s = reduce add %p from 0.25 : f64
    return %s
  })",
      calls);
}

TEST_CASE("sums of single-precision numbers, of converted bools, and of integers are correct") {
  std::vector<std::vector<datum>> calls;
  for (i64 n = 1; n < 30; ++n) calls.push_back({narrow(n)});
  agree(
      R"(func @f(%x: f32[]) -> (f32, f64, i64) {
    %n = length %x : i64
    %p, %q, %r = map %n (%i: i64) -> (f32, f64, i64) {
      %a = at %x, %i : f32
      %b = mul %a, %a : f32
      %c = gt %a, 0.0f32 : bool
      %d = convert %c : f64
      %e = mul %i, %i : i64
      yield %b, %d, %e
    }
    %s = reduce add %p : f32
    %t = reduce add %q : f64
    %u = reduce add %r from 3 : i64
    return %s, %t, %u
  })",
      calls);
}

TEST_CASE("a sum of negative zeros is -0, and the sum of no elements is its initial value") {
  array<double> const zeros = array<double>::copy_of(std::vector<double>(11, -0.0));
  agree(
      R"(func @f(%x: f64[]) -> f64 {
    %n = length %x : i64
    %p = map %n (%i: i64) -> f64 { %a = at %x, %i : f64 %b = mul %a, 1.0 : f64 yield %b }
    %s = reduce add %p : f64
    return %s
  })",
      {{zeros},
       {array<double>{-0.0}},
       {array<double>{-0.0, -0.0, -0.0}},
       {array<double>{}},
       {array<double>{std::numeric_limits<double>::infinity(), 1.0, std::nan("")}}});
}

TEST_CASE("indices are checked before a loop, and the first one out of range throws") {
  std::vector<std::vector<datum>> calls;
  for (i64 n = -1; n < 20; ++n)
    for (i64 first : {-3, 0, 2, 9, 30}) calls.push_back({numbers(20), n, first});
  calls.push_back({numbers(20), i64{4}, std::numeric_limits<i64>::max()});
  calls.push_back({numbers(20), i64{4}, std::numeric_limits<i64>::min()});
  agree(
      R"(func @f(%x: f64[], %n: i64, %first: i64) -> f64 {
    %p = map %n (%i: i64) -> f64 {
      %k = add %first, %i : i64
      %a = at %x, %k : f64
      %l = mul %first, 2 : i64
      %m = add %i, %l : i64
      %b = at %x, %m : f64
      %c = sub %a, %b : f64
      yield %c
    }
    %s = reduce add %p from 1.0 : f64
    return %s
  })",
      calls);
}

TEST_CASE("arrays are read in reverse in sums of every short length, in range or not") {
  std::vector<std::vector<datum>> calls;
  for (i64 n = 0; n < 27; ++n)
    for (i64 const last : {-1, 0, 1, 6, 7, 8, 9, 15, 24, 25, 26})
      calls.push_back({numbers(25), numbers(n, 2), narrow(25), last});
  for (i64 const last : {std::numeric_limits<i64>::min(), std::numeric_limits<i64>::max()})
    calls.push_back({numbers(25), numbers(3, 2), narrow(25), last});
  agree(
      R"(func @f(%x: f64[], %y: f64[], %z: f32[], %last: i64) -> (f64, f32, f64[]) {
    %n = length %y : i64
    %p = map %n (%i: i64) -> f64 {
      %j = sub %last, %i : i64
      %a = at %x, %j : f64
      %b = at %y, %i : f64
      %c = mul %a, %b : f64
      yield %c
    }
    %s = reduce add %p from 0.25 : f64
    %q = map %n (%h: i64) -> f32 {
      %k = add %last, 1 : i64
      %l = sub %k, %h : i64
      %m = sub %l, 1 : i64
      %d = at %z, %m : f32
      yield %d
    }
    %g = at %z, 3 : f32
    %t = reduce add %q from %g : f32
    return %s, %t, %p
  })",
      calls);
}

TEST_CASE("indices in which the loop's index occurs several times are correct, in range or not") {
  std::vector<std::vector<datum>> calls;
  for (i64 n = 0; n < 12; ++n)
    for (i64 const k : {-1, 0, 1}) calls.push_back({numbers(n), k});
  agree(
      R"(func @f(%x: f64[], %k: i64) -> f64 {
    %n = length %x : i64
    %p = map %n (%i: i64) -> f64 {
      %twice = add %i, %i : i64
      %j = sub %twice, %i : i64
      %up = add %j, %k : i64
      %a = at %x, %up : f64
      %minus = mul %i, -1 : i64
      %end = add %minus, %n : i64
      %down = sub %end, 1 : i64
      %b = at %x, %down : f64
      %c = mul %a, %b : f64
      yield %c
    }
    %s = reduce add %p from 0.25 : f64
    return %s
  })",
      calls);
}

TEST_CASE("rows are read in reverse in a sum for each of their points, as by an autoregression") {
  std::vector<std::vector<datum>> calls;
  array<double> const all = numbers(72);
  for (i64 const terms : {0, 1, 2, 5, 8, 11, 25})
    calls.push_back({datum::of({3, 24}, all), numbers(terms), i64{1}});
  calls.push_back({datum::of({3, 24}, all), numbers(5), i64{3}});
  agree(
      R"(func @f(%x: f64[][], %beta: f64[], %row: i64) -> f64 {
    %terms = length %beta : i64
    %count = sub 24, %terms : i64
    %points = max %count, 0 : i64
    %all = map %points (%t: i64) -> f64 {
      %end = add %t, %terms : i64
      %last = sub %end, 1 : i64
      %p = map %terms (%k: i64) -> f64 {
        %b = at %beta, %k : f64
        %j = sub %last, %k : i64
        %a = at %x, %row, %j : f64
        %c = mul %a, %b : f64
        yield %c
      }
      %m = reduce add %p from 0.0 : f64
      %e = mul %m, %m : f64
      yield %e
    }
    %s = reduce add %all from 0.0 : f64
    return %s
  })",
      calls);
}

TEST_CASE(
    "sums with loop-carried values, with branches, and in maps whose elements are stored, are correct") {
  std::vector<std::vector<datum>> calls;
  for (i64 n = -1; n < 9; ++n)
    for (i64 first : {-1, 0, 1, 5}) calls.push_back({numbers(8), n, first});
  agree(
      R"(func @f(%x: f64[], %n: i64, %first: i64) -> (f64, f64[], f64[]) {
    %s, %all = loop %n (%i: i64, %sum: f64 = 0.0) -> f64 stack f64 {
      %k = add %i, %first : i64
      %few = lt %i, 3 : bool
      %r = if %few -> f64 { %a = at %x, %k : f64 yield %a } else { %b = at %x, %i : f64 yield %b }
      %t = add %sum, %r : f64
      yield %t, %r
    }
    %m = loop %n (%j: i64, %y: f64[] = %x) -> f64[] {
      %k2 = add %j, %first : i64
      %c = at %x, %k2 : f64
      %z = update %y, %j, %c : f64[]
      yield %z
    }
    return %s, %all, %m
  })",
      calls);
}

TEST_CASE("rows of matrices are read in sums, in full or at an invariant index") {
  std::vector<std::vector<datum>> calls;
  for (i64 n : {0, 1, 3, 8, 9, 17}) calls.push_back({datum::of({2, n}, numbers(2 * n)), i64{1}});
  calls.push_back({datum::of({2, 5}, numbers(10)), i64{2}});
  agree(
      R"(func @f(%m: f64[][], %r: i64) -> f64 {
    %row = at %m, 0 : f64[]
    %n = length %row : i64
    %p = map %n (%i: i64) -> f64 {
      %a = at %m, %r, %i : f64
      %b = at %row, %i : f64
      %c = at %m, 0, 0 : f64
      %d = mul %a, %b : f64
      %e = add %d, %c : f64
      yield %e
    }
    %s = reduce add %p from 0.0 : f64
    return %s
  })",
      calls);
}

TEST_CASE("nested sums, and sums of elementary functions, are correct") {
  agree(
      R"(func @f(%x: f64[], %d: i64) -> f64 {
    %n = length %x : i64
    %rows = div %n, %d : i64
    %p = map %rows (%i: i64) -> f64 {
      %at = mul %i, %d : i64
      %q = map %d (%j: i64) -> f64 { %k = add %at, %j : i64 %a = at %x, %k : f64 %b = mul %a, %a : f64 yield %b }
      %t = reduce add %q from 0.0 : f64
      %u = exp %t : f64
      %v = log1p %u : f64
      yield %v
    }
    %s = reduce add %p from 0.0 : f64
    return %s
  })",
      {{numbers(100), i64{10}},
       {numbers(99), i64{3}},
       {numbers(17), i64{17}},
       {numbers(5), i64{0}},
       {numbers(5), i64{-1}}});
}
