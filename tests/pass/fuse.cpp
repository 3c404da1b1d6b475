// Fusion of maps into the readers of their elements.
#include "pass/laws.hpp"

#include <overdub/pass/fuse.hpp>

namespace {
void fuse(overdub::ir::program& p) { overdub::pass::fuse(p); }
} // namespace

TEST_CASE("a chain of maps becomes one map") {
  laws::rewrites(
      fuse, R"(
func @f(%a: f64[]) -> f64[] {
  %n = length %a : i64
  %x = map %n (%i: i64) -> f64 {
    %e = at %a, %i : f64
    %s = sin %e : f64
    yield %s
  }
  %y = map %n (%i2: i64) -> f64 {
    %e2 = at %x, %i2 : f64
    %s2 = mul %e2, 2.0 : f64
    yield %s2
  }
  %z = map %n (%i3: i64) -> f64 {
    %e3 = at %y, %i3 : f64
    %d = at %y, %i3 : f64
    %s3 = add %e3, %d : f64
    yield %s3
  }
  return %z
})",
      R"(
func @f(%a: f64[]) -> f64[] {
  %n = length %a : i64
  %z = map %n (%i: i64) -> f64 {
    %e = at %a, %i : f64
    %s = sin %e : f64
    %t = mul %s, 2.0 : f64
    %u = add %t, %t : f64
    yield %u
  }
  return %z
})");
}

TEST_CASE("a map is fused into a loop that reads its elements in order") {
  laws::rewrites(
      fuse, R"(
func @f(%a: f64[]) -> f64 {
  %n = length %a : i64
  %x = map %n (%i: i64) -> f64 {
    %e = at %a, %i : f64
    %s = sin %e : f64
    yield %s
  }
  %r = loop %n (%i2: i64, %s2: f64 = 0.0) -> f64 {
    %e2 = at %x, %i2 : f64
    %t = add %s2, %e2 : f64
    yield %t
  }
  return %r
})",
      R"(
func @f(%a: f64[]) -> f64 {
  %n = length %a : i64
  %r = loop %n (%i: i64, %s: f64 = 0.0) -> f64 {
    %e = at %a, %i : f64
    %d = sin %e : f64
    %t = add %s, %d : f64
    yield %t
  }
  return %r
})");
}

TEST_CASE("maps with other readers, two readers, or after an operation that may fail are not fused") {
  std::string_view const text = R"(
func @f(%a: f64[], %k: i64) -> (f64[], f64[], f64[], f64[], f64) {
  %n = length %a : i64
  %twice = map %n (%i: i64) -> f64 { yield 1.0 }
  %elsewhere = map %n (%i2: i64) -> f64 { yield 2.0 }
  %fails = map %n (%i3: i64) -> f64 {
    %e = at %a, %k : f64
    yield %e
  }
  %p = map %n (%i4: i64) -> f64 {
    %e2 = at %twice, %i4 : f64
    yield %e2
  }
  %q = map %n (%i5: i64) -> f64 {
    %e3 = at %twice, %i5 : f64
    yield %e3
  }
  %r = map %n (%i6: i64) -> f64 {
    %e4 = at %elsewhere, %k : f64
    yield %e4
  }
  %d = div %k, %k : i64
  %s = map %n (%i7: i64) -> f64 {
    %e5 = at %fails, %i7 : f64
    yield %e5
  }
  return %p, %q, %r, %s, 1.0
})";
  laws::rewrites(fuse, text, text);
}

TEST_CASE("an operation that may fail is fused if no other one can fail: the first error is unchanged") {
  laws::rewrites(
      fuse, R"(
func @f(%a: f64[], %b: i64[], %n: i64) -> f64[] {
  %x = map %n (%i: i64) -> f64 {
    %e = at %a, %i : f64
    yield %e
  }
  %y = map %n (%i2: i64) -> f64 {
    %e2 = at %x, %i2 : f64
    %s = sin %e2 : f64
    yield %s
  }
  return %y
})",
      R"(
func @f(%a: f64[], %b: i64[], %n: i64) -> f64[] {
  %y = map %n (%i: i64) -> f64 {
    %e = at %a, %i : f64
    %s = sin %e : f64
    yield %s
  }
  return %y
})");
}

TEST_CASE("a map is fused into an `at`, and so is the map before it") {
  auto p = overdub::ir::parse(R"(
func @f(%a: f64[]) -> (f64, f64[]) {
  %m = map 4 (%i: i64) -> f64 {
    %x = convert %i : f64
    yield %x
  }
  %e = at %m, 2 : f64
  %p = map 4 (%j: i64) -> f64 {
    %y = at %a, %j : f64
    yield %y
  }
  %q = map 4 (%k: i64) -> f64 {
    %z = at %p, %k : f64
    %s = sin %z : f64
    yield %s
  }
  return %e, %q
})");
  CHECK(overdub::pass::fuse(p) == 2);
  CHECK(overdub::pass::fuse(p) == 0);
}
