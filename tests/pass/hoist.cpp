// Loop-invariant code motion.
#include "pass/laws.hpp"

#include <overdub/pass/hoist.hpp>

namespace {
void hoist(overdub::ir::program& p) { overdub::pass::hoist(p); }
} // namespace

TEST_CASE("loop-invariant operations are hoisted out of one or several loops") {
  laws::rewrites(
      hoist, R"(
func @f(%x: f64, %n: i64) -> f64 {
  %r = loop %n (%i: i64, %a: f64 = 0.0) -> f64 {
    %s = loop %n (%k: i64, %b: f64 = %a) -> f64 {
      %e = exp %x : f64
      %d = add %e, 1.0 : f64
      %t = convert %i : f64
      %u = mul %t, %d : f64
      %c = add %b, %u : f64
      yield %c
    }
    yield %s
  }
  return %r
})",
      R"(
func @f(%x: f64, %n: i64) -> f64 {
  %e = exp %x : f64
  %d = add %e, 1.0 : f64
  %r = loop %n (%i: i64, %a: f64 = 0.0) -> f64 {
    %t = convert %i : f64
    %u = mul %t, %d : f64
    %s = loop %n (%k: i64, %b: f64 = %a) -> f64 {
      %c = add %b, %u : f64
      yield %c
    }
    yield %s
  }
  return %r
})");
}

TEST_CASE("operations that may fail leave a loop with a known positive trip count, if none that may fail "
          "comes before") {
  laws::rewrites(
      hoist, R"(
func @f(%a: f64[], %k: i64) -> f64 {
  %r = loop 3 (%i: i64, %s: f64 = 0.0) -> f64 {
    %first = at %a, %k : f64
    %own = at %a, %i : f64
    %second = div %k, %k : i64
    %t = add %s, %first : f64
    yield %t
  }
  return %r
})",
      R"(
func @f(%a: f64[], %k: i64) -> f64 {
  %first = at %a, %k : f64
  %r = loop 3 (%i: i64, %s: f64 = 0.0) -> f64 {
    %own = at %a, %i : f64
    %second = div %k, %k : i64
    %t = add %s, %first : f64
    yield %t
  }
  return %r
})");
}

TEST_CASE("operations that may fail, or not terminate, are not hoisted out of a loop that may not run") {
  std::string_view const text = R"(
func @f(%a: f64[], %n: i64, %c: bool) -> f64 {
  %r = loop %n (%i: i64, %s: f64 = 0.0) -> f64 {
    %x = at %a, 0 : f64
    %y = while (%z: f64 = 1.0) -> f64 {
      yield %c
    } do (%z2: f64) {
      yield %z2
    }
    %t = add %x, %y : f64
    yield %t
  }
  return %r
})";
  laws::rewrites(hoist, text, text);
}

TEST_CASE("an array of many elements is made only where the program makes it") {
  std::string_view const text = R"(
func @f(%n: i64, %k: i64) -> i64 {
  %r = loop %n (%i: i64, %s: i64 = 0) -> i64 {
    %a = iota 4294967296 : i64[]
    %x = at %a, %k : i64
    %b = map 65537 (%j: i64) -> i64 {
      yield %k
    }
    %y = at %b, %i : i64
    %z = add %x, %y : i64
    yield %z
  }
  return %r
})";
  laws::rewrites(hoist, text, text);
}

TEST_CASE("operations of the condition of a while loop are hoisted, and those of its body are not") {
  laws::rewrites(
      hoist, R"(
func @f(%a: f64[]) -> f64 {
  %r = while (%x: f64 = 1.0) -> f64 {
    %e = at %a, 0 : f64
    %c = lt %x, %e : bool
    yield %c
  } do (%x2: f64) {
    %d = at %a, 1 : f64
    %y = add %x2, %d : f64
    yield %y
  }
  return %r
})",
      R"(
func @f(%a: f64[]) -> f64 {
  %e = at %a, 0 : f64
  %r = while (%x: f64 = 1.0) -> f64 {
    %c = lt %x, %e : bool
    yield %c
  } do (%x2: f64) {
    %d = at %a, 1 : f64
    %y = add %x2, %d : f64
    yield %y
  }
  return %r
})");
}
