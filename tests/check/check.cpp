// Findings of check, and programs without findings. laws/check.cpp tests soundness on random programs.
#include "catch.hpp"

#include <overdub/check.hpp>
#include <overdub/compile/compile.hpp>
#include <overdub/contexts/forward.hpp>
#include <overdub/ir/parse.hpp>

#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

namespace {

using namespace overdub;

// The text of the findings, without the parts in parentheses.
std::vector<std::string> said(check_report const& r) {
  std::vector<std::string> all;
  for (auto const& x : r.findings)
    all.push_back((x.how == severity::certain ? "certain: " : "possible: ") + x.what);
  return all;
}
using lines = std::vector<std::string>;

check_report check_text(std::string const& text, std::vector<bounds> const& inputs = {}) {
  return check(ir::parse(text, {.file = "model.od"}), inputs);
}

constexpr auto logarithm = fn<"logarithm">([](auto x) { return overdub::log(x - 2.0); });
constexpr auto mean = fn<"mean">([](auto xs) { return sum(xs) / convert<double>(size(xs)); });
constexpr auto steps = fn<"steps">(
    [](auto xs) { return tabulate(size(xs) - 1, [&](auto i) { return at(xs, i + 1) - at(xs, i); }); });
constexpr auto too_far = fn<"too_far">(
    [](auto xs) { return tabulate(size(xs), [&](auto i) { return at(xs, i + 1) - at(xs, i); }); });
constexpr auto guarded = fn<"guarded">([](auto x) {
  return if_(
      x > 0.0, [&] { return overdub::log(x); }, [&] { return 0.0 * x; });
});
constexpr auto arc = fn<"arc">([](auto x) {
  return if_(
      overdub::abs(x) <= 1.0, [&] { return overdub::acos(x); }, [&] { return 0.0 * x; });
});
constexpr auto share = fn<"share">([](auto n, auto m) { return n / m; });
constexpr auto never = fn<"never">([](auto x) {
  auto const y = x * x;
  return if_(
      y < 0.0, [&] { return overdub::sqrt(x); }, [&] { return y; });
});
constexpr auto outer = fn<"outer">([](auto x) { return logarithm(x) + logarithm(x + 10.0); });
constexpr auto factorial = fn<"factorial">([](scope auto& cx, auto n) -> decltype(n) {
  return if_(
      n < 1, [&] { return cx.lift(i64{1}); }, [&] { return n * cx.self(n - 1); });
});
constexpr auto newton =
    fn<"newton">([](auto a) { return loop(20, a, [&](auto, auto x) { return 0.5 * (x + a / x); }); });

} // namespace

TEST_CASE("check proves that an operation returns NaN, or reports that it may") {
  CHECK(
      said(check(logarithm, between(0.0, 1.0))) ==
      lines{"certain: log gives NaN: its operand is in [-2, -1]"});
  CHECK(
      said(check(logarithm, between(0.0, 5.0))) ==
      lines{
          "possible: log may give NaN: its operand is in [-2, 3]",
          "possible: log may give an infinite number: its operand is in [-2, 3]"});
  CHECK(
      said(check(logarithm, between(2.0, 2.0))) ==
      lines{"certain: log gives an infinite number: its operand is 0"});
  CHECK(check(logarithm, between(2.5, 5.0)).empty());
  CHECK(check(logarithm, signature<double>).count(severity::possible) == 2);
}
TEST_CASE("check computes the bounds of sums, and uses lengths that are not 0") {
  CHECK(check(mean, each(between(0.0, 1.0))).count(finding_kind::not_a_number) == 1);
  CHECK(check(mean, each(between(-1.0, 1.0), 1)).empty());
}
TEST_CASE("check compares indices with unknown lengths") {
  CHECK(check(too_far, signature<array<double>>).count(finding_kind::index) == 1);
  CHECK(said(check(steps, each(between(0.0, 1.0), 1))) == lines{});
  CHECK(
      said(check(steps, each(between(0.0, 1.0)))) ==
      lines{"possible: map may have a negative size: at least -1"});
}
TEST_CASE("check finds arrays of known lengths that differ") {
  auto const row = [](int n) { return each(between(0.0, 1.0), n, n); };
  auto const matrix = [&](int rows, int columns) { return each(row(columns), rows, rows); };
  struct example {
    char const* body;
    bounds x, y;
  };
  for (example const& e : std::vector<example>{
           {"(%x: f64[], %y: f64[]) -> i64 {\n%r = length %x, %y : i64\nreturn %r }", row(3), row(5)},
           {"(%x: f64[][], %y: f64[][]) -> f64[][] {\n%r = concat %x, %y : f64[][]\nreturn %r }",
            matrix(2, 3), matrix(2, 5)},
           {"(%x: f64[][], %y: f64[]) -> f64[][] {\n%r = update %x, 0, %y : f64[][]\nreturn %r }",
            matrix(2, 3), row(5)},
           {"(%x: f64[], %y: f64[]) -> f64[][] {\n%r = array %x, %y : f64[][]\nreturn %r }", row(3),
            row(5)}}) {
    INFO(e.body);
    check_report const found = check_text("entry @f\nfunc @f" + std::string(e.body), {e.x, e.y});
    CHECK(found.count(finding_kind::wrong_size) == 1);
  }
  CHECK(check_text(
            "entry @f\nfunc @f(%x: f64[], %y: f64[]) -> i64 {\n%r = length %x, %y : i64\nreturn %r }",
            {row(3), row(3)})
            .empty());
}
TEST_CASE("check uses the conditions of branches") {
  CHECK(check(guarded, signature<double>).empty());
  CHECK(check(arc, signature<double>).empty());
}
TEST_CASE("check finds divisions by 0") {
  CHECK(
      said(check(share, between(0, 9), between(0, 9))) ==
      lines{"possible: div may divide by 0: its divisor is in [0, 9]"});
  CHECK(said(check(share, between(0, 9), exactly(0))) == lines{"certain: div divides by 0"});
  CHECK(check(share, between(0, 9), between(1, 9)).empty());
}
TEST_CASE("check finds branches that never run") {
  CHECK(said(check(never, signature<double>)) == lines{"certain: the first branch of if never runs"});
}
TEST_CASE("check reports the calls that lead to a finding") {
  auto const r = check(outer, between(0.0, 1.0));
  REQUIRE(r.findings.size() == 1);
  CHECK(r.findings[0].how == severity::certain);
  CHECK(r.findings[0].in == "@logarithm, called by @outer");
  CHECK(r.findings[0].operation == "%2 = log %1 : f64");
}
TEST_CASE("check terminates for recursion and loops, and finds bounds of their results") {
  CHECK(check(factorial, signature<i64>).empty());
  CHECK(check(newton, between(1.0, 2.0)).count(severity::certain) == 0);
}
TEST_CASE("check reports source locations, if the program has them") {
  std::ostringstream out;
  out << check_text(
      "entry @f\nfunc @f(%x: f64) -> f64 {\n  %y = log %x : f64\n  %z = sin %x : f64\n  return %y\n}\n",
      {between(-2.0, -1.0)});
  CHECK(
      out.str() ==
      "model.od:3:8: certain: log gives NaN: its operand is in [-2, -1] (%y = log %x : f64, in @f)\n"
      "model.od:4:8: certain: the result of sin is not used (%z = sin %x : f64, in @f)\n");
}
TEST_CASE(
    "a failure in a branch that may not run is not certain, though it occurs whenever the branch runs") {
  auto const r = check_text(R"(entry @f
func @f(%x: f64) -> f64 {
  %c = lt %x, 0.0 : bool
  %y = if %c -> f64 {
    %r = sqrt -1.0 : f64
    yield %r
  } else {
    yield %x
  }
  return %y
})");
  REQUIRE(r.findings.size() == 1);
  CHECK((r.findings[0].how == severity::possible && r.findings[0].each_time));
}
TEST_CASE("check finds assertions, sizes and indices") {
  auto const r = check_text(
      R"(entry @f
func @f(%n: i64, %a: f64[], %b: f64[]) -> f64 {
  %c = lt %n, 5 : bool
  assert %c, "few"
  %m = length %a, %b : i64
  %s = reduce max %a : f64
  %x = at %a, %n : f64
  %i = iota %n : i64[]
  %y = at %i, 7 : i64
  return %s
})",
      {between(0, 9), each(between(0.0, 1.0), 1, 4), each(between(0.0, 1.0), 2, 3)});
  CHECK(
      said(r) == lines{
                     "possible: the assertion \"few\" may not hold",
                     "possible: length may have arrays of different lengths, in [1, 4] and in [2, 3]",
                     "certain: the result of length is not used",
                     "possible: at may be out of range: the index is in [0, 4], and the length in [2, 3]",
                     "certain: the result of at is not used",
                     "certain: at is out of range: the index is 7, and the length in [0, 2]",
                     "certain: the result of at is not used"});
}
TEST_CASE("check analyses the rewritten function of a context") {
  constexpr auto root = fn<"root">([](auto x) { return overdub::sqrt(x); });
  CHECK(check(root, between(0.0, 1.0)).empty());
  ir::program const p = stage(contexts::forward{}, root, signature<tagged<double, double>>);
  CHECK(
      said(check(p, {between(0.0, 1.0), between(1.0, 1.0)})) ==
      lines{"possible: strong_div may give an infinite number: its operands are 1 and in [0, 2]"});
}
TEST_CASE("the context checked rejects certain failures, alone and in compositions") {
  constexpr auto wrong = fn<"wrong">([](auto x) { return overdub::acosh(overdub::sin(x) - 1.0); });
  checked checked;
  CHECK_THROWS_AS(compile(checked, wrong, signature<double>), check_failed);
  CHECK_THROWS_AS(
      compile(compose(overdub::checked{}, contexts::forward{}), wrong, signature<tagged<double, double>>),
      check_failed);
  CHECK(compile(checked, mean, signature<array<double>>)(array<double>{1, 2}) == 1.5);
}
TEST_CASE("check rejects inputs that do not fit the parameters") {
  CHECK_THROWS_AS(between(1.0, 0.0), argument_error);
  CHECK_THROWS_AS(between(std::uint64_t{0}, ~std::uint64_t{0}), argument_error);
  CHECK_THROWS_AS(each(between(0.0, 1.0), -1), argument_error);
  CHECK_THROWS_AS(check(stage(logarithm, signature<double>), {between(0, 1)}), argument_error);
  CHECK_THROWS_AS(
      check(stage(logarithm, signature<double>), {between(0.0, 1.0), between(0.0, 1.0)}), argument_error);
}
TEST_CASE("check without remaining steps still finds all possible failures") {
  auto const p = stage(outer, signature<double>);
  CHECK(check(p, {between(0.0, 1.0)}, 0).count(finding_kind::not_a_number) >= 1);
}
