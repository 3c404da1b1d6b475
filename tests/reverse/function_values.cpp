// Gradients through function values: selected by branches, stored in arrays, loop-carried, passed through recursion,
// captured, reabstracted. They agree with finite differences and forward mode, interpreted and compiled.
#include "catch.hpp"
#include "reverse/finite_difference.hpp"

#include <overdub/execute/interpreter.hpp>
#include <overdub/forward_program.hpp>
#include <overdub/ir/parse.hpp>
#include <overdub/ir/print.hpp>
#include <overdub/ir/verify.hpp>
#include <overdub/pass/pipeline.hpp>
#include <overdub/reverse/gradient_program.hpp>

#if OVERDUB_TESTS_JIT
#include <overdub/jit/jit.hpp>
#endif

#include <cmath>
#include <string>
#include <vector>

namespace {

using namespace overdub;

std::string const shared = R"(
func @scaled(%a: f64, %x: f64) -> f64 {
  %p = mul %a, %x : f64
  %y = sin %p : f64
  return %y
}
func @shifted(%k: i64, %a: f64, %x: f64) -> f64 {
  %c = convert %k : f64
  %b = mul %a, %c : f64
  %d = sub %x, %b : f64
  %y = mul %d, %x : f64
  return %y
}
func @twice(%f: fn(f64) -> f64, %x: f64) -> f64 {
  %y = apply %f(%x) : f64
  %z = apply %f(%y) : f64
  %w = mul %z, %x : f64
  return %w
}
func @fixed(%x: f64) -> f64 {
  %y = cos %x : f64
  return %y
}
)";

// The entry is @f(%x: f64, %y: f64, %n: i64) -> f64, and the first function.
ir::program program(std::string const& text) {
  ir::program p = ir::parse("entry @f\n" + text + shared);
  ir::verify(p);
  return p;
}

std::vector<executable> executables_of(ir::program const& p) {
  std::vector<executable> all{executable(p)};
#if OVERDUB_TESTS_JIT
  all.push_back(jit::compile(p));
#endif
  return all;
}

// The value and the gradient, on every executor, agree with finite differences and forward mode.
void check(std::string const& text) {
  INFO(text);
  ir::program const p = program(text);
  ir::program data = p;
  REQUIRE(pass::defunctionalise(data) > 0);
  ir::program gradient = p;
  differentiate_entry(gradient, {true, true, false}, true);
  REQUIRE(ir::faults_of(gradient).empty());
  ir::program optimised = gradient;
  pass::default_pipeline(optimised);
  executable const value(data), forward(forward_of(p));
  for (ir::program const& made : {gradient, optimised})
    for (executable const& run : executables_of(made))
      for (double const x : {0.3, 0.9})
        for (double const y : {-0.9, 0.8})
          for (i64 const n : {0, 1, 2}) {
            INFO("at " << x << ", " << y << ", " << n);
            auto const f = [&](double a, double b) { return value.call<double>(a, b, n); };
            auto const [v, by_x, by_y] = run.call<std::tuple<double, double, double>>(x, y, n);
            CHECK(v == f(x, y));
            CHECK(close(by_x, finite_difference([&](double a) { return f(a, y); }, x), 1e-6));
            CHECK(close(by_y, finite_difference([&](double b) { return f(x, b); }, y), 1e-6));
            auto const along = forward.call<std::tuple<double, double>>(x, 0.6, y, -1.3, n);
            CHECK(close(0.6 * by_x - 1.3 * by_y, std::get<1>(along), 1e-12));
          }
}

} // namespace

TEST_CASE("gradients flow through a function value that an active branch selects") {
  check(R"(
func @f(%x: f64, %y: f64, %n: i64) -> f64 {
  %g = closure @scaled(%y) : fn(f64) -> f64
  %h = closure @shifted(%n, %x) : fn(f64) -> f64
  %c = lt %x, %y : bool
  %k = if %c -> (fn(f64) -> f64) {
    yield %g
  } else {
    %t = closure @twice(%h) : fn(f64) -> f64
    %e = eq %n, 1 : bool
    %s = select %e, %t, %g : fn(f64) -> f64
    yield %s
  }
  %z = mul %x, %y : f64
  %r = apply %k(%z) : f64
  return %r
})");
}

TEST_CASE("gradients flow through function values in an array that is read at an unknown index") {
  check(R"(
func @f(%x: f64, %y: f64, %n: i64) -> f64 {
  %g = closure @scaled(%y) : fn(f64) -> f64
  %h = closure @shifted(2, %x) : fn(f64) -> f64
  %k = closure @fixed() : fn(f64) -> f64
  %some = array %g, %h, %k : (fn(f64) -> f64)[]
  %two = fill 2, %h : (fn(f64) -> f64)[]
  %many = concat %some, %two : (fn(f64) -> f64)[]
  %all = update %many, %n, %g : (fn(f64) -> f64)[]
  %count = length %all : i64
  %each = map %count (%i: i64) -> f64 {
    %a = at %all, %i : fn(f64) -> f64
    %v = apply %a(%x) : f64
    yield %v
  }
  %sum = reduce add %each from 0.0 : f64
  %one = at %all, %n : fn(f64) -> f64
  %r = apply %one(%sum) : f64
  return %r
})");
}

TEST_CASE("gradients flow through loop-carried function values, whose values are saved in each iteration") {
  check(R"(
func @f(%x: f64, %y: f64, %n: i64) -> f64 {
  %g = closure @scaled(%y) : fn(f64) -> f64
  %h = closure @shifted(2, %x) : fn(f64) -> f64
  %a, %b, %s, %stacked = loop 3 (%i: i64, %p: fn(f64) -> f64 = %g, %q: fn(f64) -> f64 = %h, %t: f64 = %x) -> (fn(f64) -> f64, fn(f64) -> f64, f64) stack fn(f64) -> f64 {
    %u = apply %p(%t) : f64
    %k = closure @scaled(%u) : fn(f64) -> f64
    %c = eq %i, %n : bool
    %z = select %c, %k, %q : fn(f64) -> f64
    yield %z, %p, %u, %z
  }
  %l = at %stacked, %n : fn(f64) -> f64
  %d, %w = while (%j: i64 = 0, %v: fn(f64) -> f64 = %l) -> (i64, fn(f64) -> f64) {
    %more = lt %j, %n : bool
    yield %more
  } do (%j2: i64, %v2: fn(f64) -> f64) {
    %j3 = add %j2, 1 : i64
    %v3 = select true, %v2, %a : fn(f64) -> f64
    yield %j3, %v3
  }
  %r = apply %w(%s) : f64
  return %r
})");
}

TEST_CASE("gradients flow through a recursive function that passes a function value on") {
  check(R"(
func @f(%x: f64, %y: f64, %n: i64) -> f64 {
  %g = closure @scaled(%y) : fn(f64) -> f64
  %h = closure @shifted(1, %x) : fn(f64) -> f64
  %r = call @down(%n, %g, %h, %x) : f64
  return %r
}
func @down(%n: i64, %f: fn(f64) -> f64, %g: fn(f64) -> f64, %x: f64) -> f64 {
  %c = gt %n, 0 : bool
  %r = if %c -> f64 {
    %m = sub %n, 1 : i64
    %y = apply %f(%x) : f64
    %z = call @down(%m, %g, %f, %y) : f64
    %w = add %z, %x : f64
    yield %w
  } else {
    %v = apply %g(%x) : f64
    yield %v
  }
  return %r
})");
}

TEST_CASE("gradients flow through captured, reabstracted and returned function values") {
  check(R"(
func @f(%x: f64, %y: f64, %n: i64) -> f64 {
  %g = closure @scaled(%y) : boxed fn(f64) -> f64
  %h = closure @shifted(1, %x) : fn(f64) -> f64
  %b = reabstract %h : fn(f64) -> f64 as boxed fn(f64) -> f64
  %c = eq %n, 1 : bool
  %k = select %c, %b, %g : boxed fn(f64) -> f64
  %d = reabstract %k : boxed fn(f64) -> f64 as fn(f64) -> f64
  %t = closure @twice(%d) : fn(f64) -> f64
  %u = closure @twice(%t) : fn(f64) -> f64
  %e = lt %x, 0.5 : bool
  %v = select %e, %u, %t : fn(f64) -> f64
  %m = closure @made(%v) : indirect fn(i64) -> (fn(f64) -> f64)
  %o = apply %m(%n) : fn(f64) -> f64
  %r = apply %o(%x) : f64
  return %r
}
func @made(%f: fn(f64) -> f64, %n: i64) -> (fn(f64) -> f64) {
  %c = eq %n, 0 : bool
  %g = closure @fixed() : fn(f64) -> f64
  %r = select %c, %g, %f : fn(f64) -> f64
  return %r
})");
}

TEST_CASE("gradients flow through captured arrays") {
  check(R"(
func @f(%x: f64, %y: f64, %n: i64) -> f64 {
  %xs = array %x, %y, 0.5 : f64[]
  %g = closure @element(%xs) : fn(f64) -> f64
  %h = closure @scaled(%x) : fn(f64) -> f64
  %k = loop %n (%i: i64, %p: fn(f64) -> f64 = %g) -> (fn(f64) -> f64) {
    %c = eq %i, 0 : bool
    %q = select %c, %h, %g : fn(f64) -> f64
    yield %q
  }
  %r = apply %k(%y) : f64
  return %r
}
func @element(%xs: f64[], %x: f64) -> f64 {
  %a = at %xs, 0 : f64
  %b = at %xs, 1 : f64
  %c = mul %a, %b : f64
  %y = mul %c, %x : f64
  return %y
})");
}

TEST_CASE("active function values with an unbounded chain of captures have no gradient") {
  std::string const text = R"(
func @f(%x: f64, %y: f64, %n: i64) -> f64 {
  %g = closure @scaled(%y) : fn(f64) -> f64
  %h = loop %n (%i: i64, %p: fn(f64) -> f64 = %g) -> (fn(f64) -> f64) {
    %t = closure @twice(%p) : fn(f64) -> f64
    yield %t
  }
  %r = apply %h(%x) : f64
  return %r
})";
  ir::program p = program(text);
  CHECK_THROWS_AS(differentiate_entry(p, {true, true, false}, true), differentiation_error);
}
