// Inlining of small functions, and of those called once.
#include "pass/laws.hpp"

#include <overdub/pass/inline.hpp>

namespace {
void inline_calls(overdub::ir::program& p) { overdub::pass::inline_calls(p); }
} // namespace

TEST_CASE(
    "calls are replaced by copies of the bodies, callees first, and functions without callers are erased") {
  laws::rewrites(
      inline_calls, R"(
entry @f
func @f(%x: f64) -> f64 {
  %a = call @norm(%x, 2.0) : f64
  %b = call @square(%a) : f64
  return %b
}
func @norm(%x: f64, %y: f64) -> f64 {
  %a = call @square(%x) : f64
  %b = call @square(%y) : f64
  %s = add %a, %b : f64
  %r = sqrt %s : f64
  return %r
}
func @square(%x: f64) -> f64 {
  %y = mul %x, %x : f64
  return %y
})",
      R"(
entry @f
func @f(%x: f64) -> f64 {
  %a = mul %x, %x : f64
  %b = mul 2.0, 2.0 : f64
  %s = add %a, %b : f64
  %r = sqrt %s : f64
  %y = mul %r, %r : f64
  return %y
})");
}

TEST_CASE("recursive functions, and functions used as values, are not inlined") {
  std::string_view const text = R"(
entry @main
func @main(%n: i64) -> i64 {
  %f = closure @later() : fn(i64) -> i64
  %x = apply %f(%n) : i64
  %y = call @down(%x) : i64
  return %y
}
func @later(%n: i64) -> i64 { return %n }
func @down(%n: i64) -> i64 {
  %c = le %n, 0 : bool
  %r = if %c -> i64 {
    yield 0
  } else {
    %m = sub %n, 1 : i64
    %s = call @down(%m) : i64
    yield %s
  }
  return %r
})";
  laws::rewrites(inline_calls, text, text);
}

TEST_CASE("a large function is inlined if it has one call, and not if it has two") {
  auto program = [](bool twice) {
    std::string text = "entry @f\nfunc @f(%x: f64) -> f64 {\n  %a = call @large(%x) : f64\n";
    if (twice) text += "  %b = call @large(%a) : f64\n";
    text += "  return %a\n}\nfunc @large(%x: f64) -> f64 {\n  %y0 = sin %x : f64\n";
    for (int i = 1; i < 50; ++i)
      text += "  %y" + std::to_string(i) + " = sin %y" + std::to_string(i - 1) + " : f64\n";
    return overdub::ir::parse(text + "  return %y49\n}\n");
  };
  auto once = program(false), twice = program(true);
  CHECK(overdub::pass::inline_calls(once) == 1);
  CHECK_FALSE(once.find("large").has_value());
  CHECK(overdub::pass::inline_calls(twice) == 0);
}
