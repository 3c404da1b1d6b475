// Programs that differ in unobservable ways have one canonical form.
#include "pass/laws.hpp"
#include "pass/shuffle.hpp"

#include <overdub/pass/canonicalise.hpp>
#include <overdub/pass/dce.hpp>

using laws::rewrites;
using overdub::pass::canonicalise;

TEST_CASE("operations are placed before their first use, operands first, and dead code is removed") {
  rewrites(
      canonicalise, R"(
func @f(%x: f64, %y: f64) -> f64 {
  %b = sin %y : f64
  %dropped = tan %y : f64
  %a = cos %x : f64
  %sum = add %a, %b : f64
  return %sum
})",
      R"(
func @f(%x: f64, %y: f64) -> f64 {
  %a = cos %x : f64
  %b = sin %y : f64
  %sum = add %a, %b : f64
  return %sum
})");
}

TEST_CASE("operations that may fail stay between the same ordered effects, in the order of their uses") {
  rewrites(
      canonicalise, R"(
func @f(%a: f64[], %i: i64, %j: i64) -> f64 {
  %x = at %a, %j : f64
  %y = at %a, %i : f64
  host ordered "print"(%i)
  %z = at %a, 7 : f64
  host ordered "print"(%j)
  %d = sub %y, %x : f64
  return %d
})",
      R"(
func @f(%a: f64[], %i: i64, %j: i64) -> f64 {
  %y = at %a, %i : f64
  %x = at %a, %j : f64
  host ordered "print"(%i)
  %z = at %a, 7 : f64
  host ordered "print"(%j)
  %d = sub %y, %x : f64
  return %d
})");
}

TEST_CASE("assertions come first, in their order, with their operands") {
  rewrites(
      canonicalise, R"(
func @f(%a: f64[], %i: i64) -> f64 {
  %x = at %a, %i : f64
  %n = length %a : i64
  %small = lt %i, %n : bool
  %large = ge %i, 0 : bool
  assert %small, "i is too large"
  assert %large, "i is negative"
  return %x
})",
      R"(
func @f(%a: f64[], %i: i64) -> f64 {
  %n = length %a : i64
  %small = lt %i, %n : bool
  assert %small, "i is too large"
  %large = ge %i, 0 : bool
  assert %large, "i is negative"
  %x = at %a, %i : f64
  return %x
})");
}

TEST_CASE("random choices keep their order, and come first") {
  rewrites(
      canonicalise, R"(
func @f(%n: i64) -> f64 {
  %late = sample "z" "normal"(0.0) : f64
  %c = sample "c" "normal"(%late) : f64
  %small = lt %n, 10 : bool
  assert %small, "n is too large"
  %all = map %n (%i: i64) -> f64 {
    %one = sample "b"[%i] "normal"(0.0) : f64
    yield %one
  }
  %x = sin %late : f64
  %a = sample "a" "normal"(0.0) : f64
  %sum = add %a, %c : f64
  %y = mul %x, %sum : f64
  return %y
})",
      R"(
func @f(%n: i64) -> f64 {
  %late = sample "z" "normal"(0.0) : f64
  %c = sample "c" "normal"(%late) : f64
  %all = map %n (%i: i64) -> f64 {
    %one = sample "b"[%i] "normal"(0.0) : f64
    yield %one
  }
  %a = sample "a" "normal"(0.0) : f64
  %small = lt %n, 10 : bool
  assert %small, "n is too large"
  %x = sin %late : f64
  %sum = add %a, %c : f64
  %y = mul %x, %sum : f64
  return %y
})");
}

TEST_CASE(
    "operations of an outer region are not repeated in inner regions, wherever they are in the outer one") {
  rewrites(
      canonicalise, R"(
func @f(%x: f64, %n: i64) -> (f64[], f64) {
  %all = map %n (%i: i64) -> f64 {
    %inside = sin %x : f64
    %other = cos %x : f64
    %sum = add %inside, %other : f64
    yield %sum
  }
  %outside = sin %x : f64
  return %all, %outside
})",
      R"(
func @f(%x: f64, %n: i64) -> (f64[], f64) {
  %outside = sin %x : f64
  %all = map %n (%i: i64) -> f64 {
    %other = cos %x : f64
    %sum = add %outside, %other : f64
    yield %sum
  }
  return %all, %outside
})");
}

TEST_CASE("operations that may fail are merged with outer ones only if those dominate them") {
  auto program = [](std::string_view before, std::string_view behind) {
    return "func @f(%a: f64[], %c: bool) -> f64 {\n" + std::string(before) +
           "  %r = if %c -> f64 { %y = at %a, 0 : f64\n yield %y } else { yield 0.0 }\n" +
           std::string(behind) + "  return %r\n}";
  };
  std::string_view const read = "  %x = at %a, 0 : f64\n", print = "  host ordered \"print\"()\n";
  auto count_after = [&](std::string const& text) {
    auto p = overdub::ir::parse(text);
    canonicalise(p);
    std::size_t count = 0;
    for (overdub::ir::cursor c(p, *p.find("f")); c.next();) count += c.code() == overdub::ir::op::at;
    return count;
  };
  CHECK(count_after(program(read, "")) == 1);
  CHECK(count_after(program("", read)) == 1); // it may be moved up
  CHECK(count_after(program(std::string(read) + std::string(print), "")) == 1);
  CHECK(count_after(program("", std::string(print) + std::string(read))) == 2);
}

TEST_CASE("functions are sorted by name and signature, and erased ones leave no gap") {
  auto p = overdub::ir::parse(R"(
entry @b
func @c(%x: i64) -> i64 { return %x }
func @b(%x: f64) -> i64 { %y = call @c(1) : i64
 return %y }
func @a() { return }
)");
  p.erase(*p.find("a"));
  canonicalise(p);
  REQUIRE(p.functions.size() == 2);
  CHECK(p.name_of(overdub::ir::function_id{0}) == "b");
  CHECK(p.entry == overdub::ir::function_id{0});
  CHECK(faults_of(p).empty());
}

TEST_CASE("regions are equal only if they use their own arguments equally") {
  // Both maps yield an argument of depth one: the second that of the loop, the first its own.
  rewrites(
      canonicalise, R"(
func @f(%n: i64) -> (i64[], i64[]) {
  %own = map %n (%i: i64) -> i64 { yield %i }
  %last = loop %n (%k: i64, %kept: i64[] = %own) -> i64[] {
    %outer = map %n (%i2: i64) -> i64 { yield %k }
    yield %outer
  }
  return %own, %last
})",
      R"(
func @f(%n: i64) -> (i64[], i64[]) {
  %own = map %n (%i: i64) -> i64 { yield %i }
  %last = loop %n (%k: i64, %kept: i64[] = %own) -> i64[] {
    %outer = map %n (%i2: i64) -> i64 { yield %k }
    yield %outer
  }
  return %own, %last
})");
}

TEST_CASE("random orders of one program have one canonical form") {
  for (std::uint64_t seed = 0; seed < laws::seeds(5000); ++seed) {
    auto p = random_program::make(seed, random_program::any_options(seed));
    overdub::pass::dce(p); // unused operations keep their order, so dce removes them first
    auto other = p;
    random_program::shuffle(other, seed);
    canonicalise(p);
    canonicalise(other);
    INFO("random program " << seed);
    REQUIRE(p == other);
  }
}

TEST_CASE("reads of an array precede the operation that may reuse it in place") {
  rewrites(
      canonicalise, R"(
func @f(%a: f64[], %n: i64, %x: f64) -> (f64[], f64) {
  %all, %sum = loop %n (%i: i64, %b: f64[] = %a, %s: f64 = 0.0) -> (f64[], f64) {
    %c = update %b, %i, %x : f64[]
    %y = at %b, %i : f64
    %t = add %s, %y : f64
    yield %c, %t
  }
  return %all, %sum
})",
      R"(
func @f(%a: f64[], %n: i64, %x: f64) -> (f64[], f64) {
  %all, %sum = loop %n (%i: i64, %b: f64[] = %a, %s: f64 = 0.0) -> (f64[], f64) {
    %y = at %b, %i : f64
    %c = update %b, %i, %x : f64[]
    %t = add %s, %y : f64
    yield %c, %t
  }
  return %all, %sum
})");
}

TEST_CASE("reads in regions and of rows precede the update, too, unless they need the new array") {
  rewrites(
      canonicalise, R"(
func @f(%a: f64[][], %n: i64, %x: f64) -> (f64[][], f64, f64[]) {
  %b = copy %a : f64[][]
  %c = update %b, 0, 0, %x : f64[][]
  %row = at %b, 1 : f64[]
  %y = at %row, 1 : f64
  %ys = map %n (%i: i64) -> f64 {
    %z = at %b, %i, 0 : f64
    %new = at %c, %i, 0 : f64
    %d = sub %z, %new : f64
    yield %d
  }
  return %c, %y, %ys
})",
      R"(
func @f(%a: f64[][], %n: i64, %x: f64) -> (f64[][], f64, f64[]) {
  %b = copy %a : f64[][]
  %row = at %b, 1 : f64[]
  %y = at %row, 1 : f64
  %c = update %b, 0, 0, %x : f64[][]
  %ys = map %n (%i: i64) -> f64 {
    %z = at %b, %i, 0 : f64
    %new = at %c, %i, 0 : f64
    %d = sub %z, %new : f64
    yield %d
  }
  return %c, %y, %ys
})");
}

TEST_CASE("if only one of two arrays can be reused in place, one is") {
  // %p needs the new %b, and %q the new %a: one of the old arrays is still live when it is written.
  rewrites(
      canonicalise, R"(
func @f(%x: f64[], %y: f64[], %i: i64) -> (f64[], f64[], f64[], f64[]) {
  %a = copy %x : f64[]
  %b = copy %y : f64[]
  %a1 = update %a, %i, 1.0 : f64[]
  %b1 = update %b, %i, 2.0 : f64[]
  %p = concat %a, %b1 : f64[]
  %q = concat %a1, %b : f64[]
  return %a1, %b1, %p, %q
})",
      R"(
func @f(%x: f64[], %y: f64[], %i: i64) -> (f64[], f64[], f64[], f64[]) {
  %a = copy %x : f64[]
  %b = copy %y : f64[]
  %b1 = update %b, %i, 2.0 : f64[]
  %p = concat %a, %b1 : f64[]
  %a1 = update %a, %i, 1.0 : f64[]
  %q = concat %a1, %b : f64[]
  return %a1, %b1, %p, %q
})");
}
