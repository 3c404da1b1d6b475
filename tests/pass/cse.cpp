// Common-subexpression elimination.
#include "pass/laws.hpp"

#include <overdub/pass/cse.hpp>

namespace {
void cse(overdub::ir::program& p) { overdub::pass::cse(p); }
} // namespace

TEST_CASE("common subexpressions are computed once, also in regions, and if they may fail") {
  laws::rewrites(
      cse, R"(
func @f(%a: f64[], %c: bool) -> (f64, f64) {
  %x = at %a, 0 : f64
  %y = at %a, 0 : f64
  %s = add %x, 1.0 : f64
  %r = if %c -> f64 {
    %z = at %a, 0 : f64
    %t = add %z, 1.0 : f64
    yield %t
  } else {
    %u = sin %y : f64
    yield %u
  }
  return %r, %s
})",
      R"(
func @f(%a: f64[], %c: bool) -> (f64, f64) {
  %x = at %a, 0 : f64
  %s = add %x, 1.0 : f64
  %r = if %c -> f64 {
    yield %s
  } else {
    %u = sin %x : f64
    yield %u
  }
  return %r, %s
})");
}

TEST_CASE("maps with equal bodies are merged, whatever the names of their arguments") {
  laws::rewrites(
      cse, R"(
func @f(%a: f64[], %n: i64) -> (f64[], f64[], f64[]) {
  %x = map %n (%i: i64) -> f64 {
    %e = at %a, %i : f64
    %s = sin %e : f64
    yield %s
  }
  %y = map %n (%k: i64) -> f64 {
    %e2 = at %a, %k : f64
    %s2 = sin %e2 : f64
    yield %s2
  }
  %z = map %n (%i2: i64) -> f64 {
    %e3 = at %a, %i2 : f64
    yield %e3
  }
  return %x, %y, %z
})",
      R"(
func @f(%a: f64[], %n: i64) -> (f64[], f64[], f64[]) {
  %x = map %n (%i: i64) -> f64 {
    %e = at %a, %i : f64
    %s = sin %e : f64
    yield %s
  }
  %z = map %n (%i2: i64) -> f64 {
    %e2 = at %a, %i2 : f64
    yield %e2
  }
  return %x, %x, %z
})");
}

TEST_CASE("a result of one branch is not available in the other, nor after it") {
  std::string_view const text = R"(
func @f(%x: f64, %c: bool) -> (f64, f64) {
  %r = if %c -> f64 {
    %s = sin %x : f64
    yield %s
  } else {
    %s2 = sin %x : f64
    yield %s2
  }
  %t = sin %x : f64
  return %r, %t
})";
  laws::rewrites(cse, text, text);
}

TEST_CASE("samples, reads and effects are never merged") {
  std::string_view const text = R"(
func @f() -> (f64, f64, f64, f64) {
  %a = sample "x" "normal"() : f64
  %b = sample "x" "normal"() : f64
  %c = host reads_context "clock"() : f64
  %d = host reads_context "clock"() : f64
  return %a, %b, %c, %d
})";
  laws::rewrites(cse, text, text);
}
