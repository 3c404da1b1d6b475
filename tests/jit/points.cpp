// Outer-loop vectorisation of maps whose bodies have loops and reductions with a uniform trip count: for every short
// length, on every processor, results equal the interpreter's.
#include "execute/texts.hpp"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace {

using namespace overdub;

// The same results and errors as the interpreter that computes element by element, with and without vectors of several widths.
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
  std::vector<jit::options> ways{{.optimisation = 0}, {.optimisation = 2}, {.optimisation = 3}};
#if defined(__x86_64__)
  ways.push_back({.optimisation = 2, .cpu = "x86-64"});
  if (__builtin_cpu_supports("avx2")) ways.push_back({.optimisation = 2, .cpu = "x86-64-v3"});
#endif
  for (jit::options const& how : ways) {
    executable const run = jit::compile(p, {}, how);
    for (auto const& call : calls) {
      INFO("level " << how.optimisation << " " << how.cpu << ", " << texts::text_of_all(call));
      CHECK(outcome(run, call) == outcome(reference, call));
    }
  }
}

array<double> numbers(i64 n, double scale = 1) {
  std::vector<double> all;
  for (i64 i = 0; i < n; ++i) all.push_back(scale * std::sin(static_cast<double>(i * i + 1)) / 3);
  return array<double>::copy_of(all);
}
array<double> with_limits(i64 n) {
  double const limits[] = {
      0.0,  -0.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
      -1.5, 2.0,  -std::numeric_limits<double>::infinity()};
  std::vector<double> all;
  for (i64 i = 0; i < n; ++i) all.push_back(limits[(i * i + i / 3) % 7]);
  return array<double>::copy_of(all);
}
array<float> narrow(i64 n) {
  std::vector<float> all;
  for (double const x : numbers(n)) all.push_back(static_cast<float>(x));
  return array<float>::copy_of(all);
}
array<i64> integers(i64 n) {
  std::vector<i64> all;
  for (i64 i = 0; i < n; ++i) all.push_back((i * i * 7 + 3) % 23 - 9);
  return array<i64>::copy_of(all);
}

// The numbers of points, and of iterations for each.
std::vector<std::vector<datum>> lengths(auto const& x, auto const& y) {
  std::vector<std::vector<datum>> calls;
  for (i64 const points : {0, 1, 3, 7, 8, 9, 17})
    for (i64 const count : {-1, 0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 33})
      calls.push_back({x, y, points, count});
  calls.push_back({x, y, i64{-1}, i64{2}});
  calls.push_back({x, y, i64{60}, i64{30}}); // reads out of bounds
  return calls;
}

std::string sums_of_windows(std::string const& reduction, std::string const& type) {
  std::string text = R"(func @f(%x: T[], %y: T[], %points: i64, %count: i64) -> (T, T[]) {
    %last = sub %count, 1 : i64
    %all, %ends = map %points (%t: i64) -> (T, T) {
      %end = add %t, %last : i64
      %p = map %count (%k: i64) -> T {
        %a = at %x, %k : T
        %j = sub %end, %k : i64
        %b = at %y, %j : T
        %c = mul %a, %b : T
        yield %c
      }
      %m = REDUCTION : T
      %z = at %y, %t : T
      %e = sub %z, %m : T
      yield %e, %m
    }
    %s = reduce add %all from T0 : T
    return %s, %ends
  })";
  auto const replace = [&](std::string const& from, std::string const& to) {
    for (auto i = text.find(from); i != std::string::npos; i = text.find(from, i + to.size()))
      text.replace(i, from.size(), to);
  };
  replace("REDUCTION", reduction);
  replace("T0", type == "i64" ? "0" : type == "f32" ? "0.0f32" : "0.0");
  replace("T", type);
  return text;
}

} // namespace

TEST_CASE("sums of windows that are read in reverse are correct, for every number of points and terms") {
  for (char const* const how : {"reduce add %p from 0.0", "reduce add %p from -0.0", "reduce add %p"}) {
    agree(sums_of_windows(how, "f64"), lengths(numbers(70), numbers(70, 2)));
    agree(sums_of_windows(how, "f64"), lengths(with_limits(70), numbers(70, 2)));
  }
}

TEST_CASE("products, maxima and minima are combined in a tree, also NaNs and zeros of either sign") {
  for (char const* const how : {"reduce max %p", "reduce min %p", "reduce mul %p", "reduce max %p from 0.25"})
    for (auto const& x : {numbers(70), with_limits(70)})
      agree(sums_of_windows(how, "f64"), lengths(x, numbers(70, 2)));
}

TEST_CASE("windows of integers and of single-precision numbers are correct") {
  for (char const* const how : {"reduce add %p from 5", "reduce add %p", "reduce max %p"})
    agree(sums_of_windows(how, "i64"), lengths(integers(70), integers(70)));
  for (char const* const how : {"reduce add %p from 0.0f32", "reduce max %p"})
    agree(sums_of_windows(how, "f32"), lengths(narrow(70), narrow(70)));
}

TEST_CASE("loop-carried numbers and bools are correct, in forward, reversed and nested loops") {
  for (char const* const direction : {"", "reversed "}) {
    std::string text = R"(func @f(%x: f64[], %y: f64[], %points: i64, %count: i64) -> (f64, f64[]) {
    %all = map %points (%t: i64) -> f64 {
      %a = at %y, %t : f64
      %h, %grows = loop DIRECTION%count (%k: i64, %sum: f64 = 0.0, %up: bool = true) -> (f64, bool) {
        %b = at %x, %k : f64
        %c = mul %sum, %a : f64
        %d = add %c, %b : f64
        %more = lt %sum, %d : bool
        %both = select %more, %up, %more : bool
        %i = loop 2 (%q: i64, %each: f64 = %d) -> f64 {
          %r = at %x, %q : f64
          %u = mul %each, %r : f64
          yield %u
        }
        %v = add %i, %d : f64
        yield %v, %both
      }
      %n = neg %h : f64
      %w = select %grows, %h, %n : f64
      yield %w
    }
    %s = reduce add %all from 0.0 : f64
    %m = reduce max %all from 0.0 : f64
    %z = add %s, %m : f64
    return %z, %all
  })";
    text.replace(text.find("DIRECTION"), 9, direction);
    agree(text, lengths(numbers(70), numbers(70, 2)));
  }
}

TEST_CASE("points with a stride are correct, as in the rows of a matrix") {
  std::vector<std::vector<datum>> calls;
  for (i64 const rows : {0, 1, 5, 8, 13})
    for (i64 const columns : {1, 2, 3, 4, 5, 9})
      calls.push_back({datum::of({rows, columns}, numbers(rows * columns)), numbers(columns)});
  for (char const* const how : {"reduce add %p from 0.0", "reduce max %p"})
    agree(
        std::string(R"(func @f(%x: f64[][], %b: f64[]) -> f64 {
    %rows = length %x : i64
    %columns = length %b : i64
    %all = map %rows (%t: i64) -> f64 {
      %p = map %columns (%k: i64) -> f64 {
        %a = at %x, %t, %k : f64
        %c = at %b, %k : f64
        %d = mul %a, %c : f64
        yield %d
      }
      %m = )") +
            how + R"( : f64
      %e = mul %m, %m : f64
      yield %e
    }
    %s = reduce add %all from 0.0 : f64
    return %s
  })",
        calls);
}

TEST_CASE("functions without vector versions are correct in and after the loops") {
  agree(
      R"(func @f(%x: f64[], %y: f64[], %points: i64, %count: i64) -> (f64, f64) {
    %all, %others = map %points (%t: i64) -> (f64, f64) {
      %a = at %y, %t : f64
      %p = map %count (%k: i64) -> f64 {
        %b = at %x, %k : f64
        %d = sub %a, %b : f64
        %e = exp %d : f64
        %g = nextafter %e, %d : f64
        yield %g
      }
      %m = reduce add %p from 0.5 : f64
      %l = log %m : f64
      %i = sin %l : f64
      %c = cos %a : f64
      %o = atan2 %i, %c : f64
      yield %l, %o
    }
    %s = reduce add %all from 0.0 : f64
    %q = reduce add %others from 0.0 : f64
    return %s, %q
  })",
      lengths(numbers(70), numbers(70, 2)));
}

TEST_CASE("a polynomial and the maximum of some terms are computed for eight points together") {
  constexpr char const* in_loop = R"(entry @f
func @f(%x: f64[], %c: f64[]) -> f64 {
    %n = length %x : i64
    %count = length %c : i64
    %all = map %n (%i: i64) -> f64 {
      %a = at %x, %i : f64
      %p = loop %count (%k: i64, %sum: f64 = 0.0) -> f64 {
        %b = at %c, %k : f64
        %d = mul %sum, %a : f64
        %e = add %d, %b : f64
        yield %e
      }
      yield %p
    }
    %s = reduce add %all from 0.0 : f64
    return %s
  })";
  constexpr char const* in_map = R"(entry @f
func @f(%x: f64[], %c: f64[]) -> f64 {
    %n = length %x : i64
    %count = length %c : i64
    %all = map %n (%i: i64) -> f64 {
      %a = at %x, %i : f64
      %terms = map %count (%k: i64) -> f64 {
        %b = at %c, %k : f64
        %d = mul %b, %a : f64
        yield %d
      }
      %p = reduce max %terms from 0.0 : f64
      yield %p
    }
    %s = reduce add %all from 0.0 : f64
    return %s
  })";
  auto const code_of = [](char const* text) {
    ir::program const p = ir::parse(text);
    return jit::detail::llvm_text(p, p.entry, {}, {});
  };
  CHECK_THAT(code_of(in_loop), Catch::Contains("fmul <8 x double>"));
  CHECK_THAT(code_of(in_map), Catch::Contains("select <8 x i1>"));
}
