// Live ranges: which values each operation uses last.
#include "catch.hpp"

#include <overdub/implementation/ir/last_uses.hpp>
#include <overdub/ir/parse.hpp>

#include <string>

namespace {

using namespace overdub::ir;

std::string ends_of(std::string const& text) {
  program const p = parse(text);
  function const& f = p[function_id{0}];
  return text_of(last_uses(f, use_order(f)), p, f);
}

} // namespace

TEST_CASE("a value ends at the last operation that uses it, and an unused result at its own") {
  CHECK(
      ends_of(R"(func @f(%x: f64, %y: f64) -> f64 {
  %a = mul %x, %y : f64
  %unused = neg %a : f64
  %b = add %a, %x : f64
  return %b
})") == "%a = mul: ends %y\n"
        "%unused = neg: ends %unused\n"
        "%b = add: ends %x %a\n"
        "yield: ends %b\n");
}

TEST_CASE("a value that a region uses ends at the operation of the region, and arguments end in it") {
  CHECK(
      ends_of(R"(func @f(%x: f64[], %n: i64) -> f64 {
  %k = add %n, 1 : i64
  %r = loop %n (%i: i64, %s: f64 = 0.0) -> f64 {
    %e = at %x, %k : f64
    %t = add %s, %e : f64
    yield %t
  }
  %m = add %n, 2 : i64
  %q = convert %m : f64
  %z = add %r, %q : f64
  return %z
})") == "%r = loop: ends %x %k\n"
        "%t = add: ends %s %e\n"
        "yield: ends %t\n"
        "%m = add: ends %n\n"
        "%q = convert: ends %m\n"
        "%z = add: ends %r %q\n"
        "yield: ends %z\n");
}

TEST_CASE("a value that only one branch uses ends at the branch") {
  CHECK(
      ends_of(R"(func @f(%c: bool, %x: f64) -> f64 {
  %r = if %c -> f64 { yield %x } else { yield 0.0 }
  return %r
})") == "%r = if: ends %c %x\n"
        "yield: ends %r\n");
}
