// batch(f) applies f to each element, on every executor; `batched` changes no bit. laws/batch.cpp tests random programs.
#include "catch.hpp"

#include <overdub/batch.hpp>
#include <overdub/compile/compile.hpp>
#include <overdub/contexts/count.hpp>
#include <overdub/contexts/forward.hpp>
#include <overdub/execute/interpreter.hpp>
#include <overdub/ir/parse.hpp>
#include <overdub/ir/print.hpp>
#include <overdub/ir/verify.hpp>
#include <overdub/stage/evaluate.hpp>

#if OVERDUB_TESTS_JIT
#include <overdub/jit/executor.hpp>
#endif

#include <string>
#include <tuple>

namespace {

using namespace overdub;

constexpr auto root = fn<"root">(
    [](auto a, auto start) { return loop(20, start, [&](auto, auto x) { return 0.5 * (x + a / x); }); });
// A trip count that depends on the element, and a branch.
constexpr auto collatz = fn<"collatz">([](scope auto& cx, auto n) {
  auto const last = while_(
      std::tuple{n, cx.lift(i64{0})}, [](auto s) { return std::get<0>(s) > i64{1}; },
      [&](auto s) {
        auto const [m, steps] = s;
        auto const next = if_(
            m % i64{2} == i64{0}, [&] { return m / i64{2}; }, [&] { return i64{3} * m + i64{1}; });
        return std::tuple{next, steps + i64{1}};
      });
  return std::get<1>(last);
});
constexpr auto horner = fn<"horner">([](auto x, auto coefficients) {
  return loop(size(coefficients), 0.0 * x, [&](auto i, auto y) { return y * x + at(coefficients, i); });
});
constexpr auto both = fn<"both">([](auto x) { return std::tuple{x * x, x < 0.0}; });

array<double> const numbers{1, 2, 3, 4, 5};

array<double> many() {
  return map([](auto i) { return 0.01 * convert<double>(i) + 0.5; }, iota(i64{200}));
}
// The number of maps that `batched` splits in a program. The program remains valid.
std::size_t splits(ir::program p) {
  pass::inline_calls(p, 400);
  std::size_t const count = pass::interchange(p);
  CHECK(ir::faults_of(p).empty());
  return count;
}

} // namespace

TEST_CASE("a batch applies the function to each element, and other arguments are the same for all elements") {
  auto const roots = batch(root)(numbers, 1.0);
  REQUIRE(roots.size() == 5);
  for (i64 i = 0; i < 5; ++i) CHECK(roots[i] == root(numbers[i], 1.0));
  CHECK(batch(root)(2.0, numbers).size() == 5);
  CHECK(batch(collatz)(array<i64>{1, 2, 7, 27}) == array<i64>{0, 1, 16, 111});
  CHECK(batch(root)(array<double>{}, 1.0).size() == 0);
}
TEST_CASE("a batch of functions of several results is a tuple of arrays") {
  auto const [squares, signs] = batch(both)(array<double>{-2, 3});
  CHECK((squares == array<double>{4, 9} && signs == array<bool>{true, false}));
}
TEST_CASE("a batch whose elements are rows takes arrays of arrays") {
  array<array<double>> const rows{{1, 2}, {3, 4}};
  CHECK(batch(horner)(array<double>{10, 100}, rows) == array<double>{12, 304});
}
TEST_CASE("a batch of arrays of different sizes is rejected") {
  CHECK_THROWS_AS(batch(root)(numbers, array<double>{1}), size_error);
}
TEST_CASE("a batch of a function with captures works in a direct run") {
  double const factor = 3;
  auto const scaled = batch(fn<"scaled">([factor](auto x) { return factor * x; }));
  CHECK(scaled(array<double>{1, 2}) == array<double>{3, 6});
}
TEST_CASE("contexts observe the calls in a batch, and differentiate it") {
  contexts::count count;
  (void)run(count, batch(both), numbers);
  CHECK(count.functions == 6);
  auto const derivatives = run(contexts::forward{}, batch(root), tag(numbers, fill(i64{5}, 1.0)), 1.0);
  for (i64 i = 0; i < 5; ++i)
    CHECK(derivatives.metadata[i] == run(contexts::forward{}, root, tag(numbers[i], 1.0), 1.0).metadata);
}
TEST_CASE("a batch has the same result staged, interpreted, compiled, and in batched") {
  array<double> const xs = many(), expected = batch(root)(xs, 1.0);
  constexpr auto types = signature<array<double>, double>;
  CHECK(evaluate<array<double>>(stage(batch(root), types), xs, 1.0) == expected);
  CHECK(run(batched{}, batch(root), xs, 1.0) == expected);
  CHECK(compile(compose(), batch(root), types)(xs, 1.0) == expected);
  CHECK(compile(batched{}, batch(root), types)(xs, 1.0) == expected);
#if OVERDUB_TESTS_JIT
  compile_options const machine_code{.executor = jit::compiled(), .tiers = tiers::compile_now};
  CHECK(compile(compose(), batch(root), types, machine_code)(xs, 1.0) == expected);
  CHECK(compile(batched{}, batch(root), types, machine_code)(xs, 1.0) == expected);
  array<i64> const ns = map([](auto i) { return i + 1; }, iota(i64{100}));
  CHECK(compile(batched{}, batch(collatz), signature<array<i64>>, machine_code)(ns) == batch(collatz)(ns));
#endif
}
TEST_CASE("batched accepts batches that other contexts rewrote") {
  array<double> const xs = many(), ones = fill(size(xs), 1.0);
  auto const direct = run(contexts::forward{}, batch(root), tag(xs, ones), 1.0);
  using argument = tagged<array<double>, array<double>>;
  auto const f = compile(compose(contexts::forward{}, batched{}), batch(root), signature<argument, double>);
  auto const compiled = f(tag(xs, ones), 1.0);
  CHECK((compiled.inner == direct.inner && compiled.metadata == direct.metadata));
}
TEST_CASE(
    "batched splits maps at loops with a uniform trip count: a number, an argument or the length of a row") {
  CHECK(splits(stage(batch(root), signature<array<double>, double>)) == 1);
  CHECK(splits(stage(batch(horner), signature<array<double>, array<array<double>>>)) == 1);
  CHECK(splits(stage(batch(collatz), signature<array<i64>>)) == 0);
}
TEST_CASE("batched splits nested loops, outermost first") {
  CHECK(splits(ir::parse(R"(entry @f
func @f(%a: f64[], %m: i64) -> f64[] {
  %n = length %a : i64
  %r = map %n (%i: i64) -> f64 {
    %x = at %a, %i : f64
    %y = loop %m (%j: i64, %s: f64 = %x) -> f64 {
      %z = loop 3 (%k: i64, %t: f64 = %s) -> f64 {
        %u = mul %t, %x : f64
        yield %u
      }
      yield %z
    }
    yield %y
  }
  return %r
})")) == 2);
}
TEST_CASE("batched does not split at effects, loop-carried arrays and varying trip counts") {
  std::string const begin = "entry @f\nfunc @f(%a: i64[], %w: f64[]) -> i64[] {\n  %n = length %a : i64\n"
                            "  %r = map %n (%i: i64) -> i64 {\n    %x = at %a, %i : i64\n";
  std::string const end = "    yield %y\n  }\n  return %r\n}\n";
  auto const body = [&](std::string const& text) { return splits(ir::parse(begin + text + end)); };
  std::string const iteration = "    %s = add %k, %t : i64\n    yield %s\n    }\n";
  CHECK(body("    %y = loop 5 (%k: i64, %t: i64 = %x) -> i64 {\n" + iteration) == 1);
  CHECK(body("    %y = loop %x (%k: i64, %t: i64 = %x) -> i64 {\n" + iteration) == 0);
  CHECK(
      body(
          "    host ordered \"print\"(%x)\n    %y = loop 5 (%k: i64, %t: i64 = %x) -> i64 {\n" + iteration) ==
      0);
  CHECK(
      body("    %y, %v = loop 5 (%k: i64, %t: i64 = %x, %u: f64[] = %w) -> (i64, f64[]) {\n"
           "    %s = add %k, %t : i64\n    yield %s, %u\n    }\n") == 0);
}
TEST_CASE("batched preserves the order of iterations, and initial values: numbers, uniform values, or "
          "the index") {
  ir::program p = ir::parse(R"(entry @f
func @f(%a: f64[], %m: f64) -> (f64[], i64[]) {
  %n = length %a : i64
  %r, %q = map %n (%i: i64) -> (f64, i64) {
    %x = at %a, %i : f64
    %y, %z, %w, %v = loop reversed 5 (%k: i64, %s: f64 = %x, %t: f64 = %m, %j: i64 = %i, %l: i64 = 7) -> (f64, f64, i64, i64) {
      %c = convert %k : f64
      %s1 = mul %s, %t : f64
      %s2 = add %s1, %c : f64
      %t1 = sub %t, %s : f64
      %j1 = mul %j, 3 : i64
      %j2 = add %j1, %k : i64
      %l1 = add %l, %j : i64
      yield %s2, %t1, %j2, %l1
    }
    %u = add %y, %z : f64
    %o = add %w, %v : i64
    %o2 = sub %o, %i : i64
    yield %u, %o2
  }
  return %r, %q
})");
  using results = std::tuple<array<double>, array<i64>>;
  auto const expected = executable(p).call<results>(many(), 0.25);
  REQUIRE(pass::interchange(p) == 1);
  ir::verify(p);
  CHECK((executable(p).call<results>(many(), 0.25) == expected));
}
TEST_CASE("an element that fails in a batch also fails in batched") {
  constexpr auto share =
      fn<"share">([](auto n) { return loop(3, n, [&](auto, auto x) { return i64{100} / x; }); });
  CHECK_THROWS_AS(run(batched{}, batch(share), array<i64>{1, 0}), division_by_zero);
  CHECK(run(batched{}, batch(share), array<i64>{1, 3}) == batch(share)(array<i64>{1, 3}));
}
