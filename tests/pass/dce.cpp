// Dead-code elimination.
#include "pass/laws.hpp"

#include <overdub/pass/dce.hpp>

namespace {
void dce(overdub::ir::program& p) { overdub::pass::dce(p); }
} // namespace

TEST_CASE("dead operations are removed, and operations that may fail or have side effects are not") {
  laws::rewrites(
      dce, R"(
func @f(%a: f64[]) -> f64 {
  %s = sin 1.0 : f64
  %t = cos %s : f64
  %x = at %a, 0 : f64
  %y = sample "y" "normal"() : f64
  %z = host reads_context "clock"() : f64
  return 1.0
})",
      R"(
func @f(%a: f64[]) -> f64 {
  %x = at %a, 0 : f64
  %y = sample "y" "normal"() : f64
  return 1.0
})");
}

TEST_CASE("unused results of branches, maps and loops are removed, with their operands") {
  laws::rewrites(
      dce, R"(
func @f(%n: i64, %c: bool) -> (f64, f64[]) {
  %a, %b = if %c -> (f64, f64) {
    %s = sin 1.0 : f64
    yield %s, 2.0
  } else {
    yield 3.0, 4.0
  }
  %p, %q = map %n (%i: i64) -> (f64, f64) {
    %x = convert %i : f64
    %y = sin %x : f64
    yield %x, %y
  }
  return %b, %p
})",
      R"(
func @f(%n: i64, %c: bool) -> (f64, f64[]) {
  %b = if %c -> f64 {
    yield 2.0
  } else {
    yield 4.0
  }
  %p = map %n (%i: i64) -> f64 {
    %x = convert %i : f64
    yield %x
  }
  return %b, %p
})");
}

TEST_CASE("loop-carried values that only compute themselves are erased, and others are not") {
  laws::rewrites(
      dce, R"(
func @f(%n: i64) -> f64 {
  %a, %b, %c = loop %n (%i: i64, %x: f64 = 0.0, %y: f64 = 1.0, %z: f64 = 2.0) -> (f64, f64, f64) {
    %p = add %x, %z : f64
    %q = mul %y, 2.0 : f64
    %r = sin %z : f64
    yield %p, %q, %r
  }
  return %a
})",
      R"(
func @f(%n: i64) -> f64 {
  %a, %c = loop %n (%i: i64, %x: f64 = 0.0, %z: f64 = 2.0) -> (f64, f64) {
    %p = add %x, %z : f64
    %r = sin %z : f64
    yield %p, %r
  }
  return %a
})");
}

TEST_CASE(
    "unreachable functions are removed, also those with dead callers or with themselves as only caller") {
  auto p = overdub::ir::parse(R"(
entry @f
func @f() -> f64 {
  %unused = call @g() : f64
  return 1.0
}
func @g() -> f64 { return 2.0 }
func @h() -> f64 { %x = call @h() : f64
  return %x }
)");
  dce(p);
  CHECK(p.find("f").has_value());
  CHECK_FALSE(p.find("g").has_value());
  CHECK_FALSE(p.find("h").has_value());
}
