// The plan by which loops are raised: each loop-carried value, and why a loop remains.
#include "catch.hpp"

#include <overdub/implementation/pass/raise_plan.hpp>
#include <overdub/ir/parse.hpp>

#include <string>

namespace {

using namespace overdub;

std::string plan_of(std::string const& text) {
  ir::program const p = ir::parse(text);
  ir::function const& f = p[ir::function_id{0}];
  return text_of(pass::plan_to_raise(ir::effects(p), f), p, f);
}

// A loop over %n with the loop-carried values, and a body that yields their next values.
std::string loop_of(std::string const& carried, std::string const& types, std::string const& body) {
  return plan_of(
      "func @f(%x: f64[], %k: i64[]) -> (" + types + ") {\n  %n = length %x : i64\n  %e = at %x, 0 : f64\n" +
      "  %r = loop %n (%i: i64, " + carried + ") -> " + types + " {\n" + body + "  }\n  return %r\n}\n");
}

} // namespace

TEST_CASE("a value that is combined with a term is a sum, in order if the order decides on bits") {
  CHECK(
      loop_of(
          "%s: f64 = 0.0", "f64", "    %y = at %x, %i : f64\n    %t = add %y, %s : f64\n    yield %t\n") ==
      "loop %i: raised\n  %s: combines by add in order %y\n");
  CHECK(
      loop_of("%s: i64 = 0", "i64", "    %y = at %k, %i : i64\n    %t = max %s, %y : i64\n    yield %t\n") ==
      "loop %i: raised\n  %s: combines by max %y\n");
}

TEST_CASE("a value that is read, or that another operation makes, keeps its loop") {
  std::string const remains =
      "loop %i remains: %s is no sum, counter, or array of one element for each iteration\n";
  CHECK(
      loop_of(
          "%s: f64 = 0.0", "f64", "    %y = mul %s, %e : f64\n    %t = add %s, %y : f64\n    yield %t\n") ==
      remains);
  CHECK(loop_of("%s: f64 = 0.0", "f64", "    %t = sub %e, %s : f64\n    yield %t\n") == remains);
  CHECK(loop_of("%s: f64 = 0.0", "f64", "    %t = div %s, %e : f64\n    yield %t\n") == remains);
  CHECK(loop_of("%s: f64 = 0.0", "f64", "    %t = max %e, %s : f64\n    yield %t\n") == remains);
}

TEST_CASE("an array has one element for each iteration, and each reads its own") {
  std::string const update = "    %b = update %s, %i, %y : f64[]\n    yield %b\n";
  std::string const remains =
      "loop %i remains: %s is no sum, counter, or array of one element for each iteration\n";
  CHECK(
      loop_of("%s: f64[] = %x", "f64[]", "    %y = at %s, %i : f64\n" + update) ==
      "loop %i: raised\n  %s: elements, each %y\n");
  CHECK(loop_of("%s: f64[] = %x", "f64[]", "    %y = at %s, 0 : f64\n" + update) == remains);
  CHECK(
      loop_of(
          "%s: f64[] = %x", "f64[]",
          "    %j = sub %n, %i : i64\n    %b = update %s, %j, %e : f64[]\n    yield %b\n") == remains);
  CHECK(
      plan_of("func @f(%x: f64[], %n: i64) -> f64[] {\n  %r = loop %n (%i: i64, %s: f64[] = %x) -> f64[] {\n"
              "    %b = update %s, %i, 1.0 : f64[]\n    yield %b\n  }\n  return %r\n}\n") == remains);
}

TEST_CASE("counters and unchanged values alone need no map") {
  CHECK(
      loop_of("%s: i64 = 5", "i64", "    %t = sub %s, %n : i64\n    yield %t\n") ==
      "loop %i remains: it has no value for each iteration\n");
}

TEST_CASE("side effects, the opposite order and a loop around keep a loop") {
  CHECK(
      plan_of("func @f(%n: i64) -> i64 {\n  %r = loop reversed %n (%i: i64, %s: i64 = 0) -> i64 {\n"
              "    %t = add %s, %i : i64\n    yield %t\n  }\n  return %r\n}\n") ==
      "loop %i remains: it runs backwards\n");
  CHECK(
      plan_of("func @f(%n: i64) -> i64 {\n  %r = loop %n (%i: i64, %s: i64 = 0) -> i64 {\n"
              "    %h = host ordered \"next\"() : i64\n    %t = add %s, %h : i64\n    yield %t\n  }\n  "
              "return %r\n}\n") == "loop %i remains: it has side effects\n");
  CHECK(
      plan_of("func @f(%n: i64) -> i64 {\n  %r = loop %n (%i: i64, %s: i64 = 1) -> i64 {\n"
              "    %t = loop %n (%j: i64, %u: i64 = 0) -> i64 {\n      %q = mul %s, %j : i64\n"
              "      %v = add %u, %q : i64\n      yield %v\n    }\n    yield %t\n  }\n  return %r\n}\n") ==
      "loop %i remains: %s is no sum, counter, or array of one element for each iteration\n"
      "loop %j remains: a loop that remains runs it\n");
}
