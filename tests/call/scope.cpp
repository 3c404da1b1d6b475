// The scope: calls without values among their arguments, recursion, constants.
#include "call/recorder.hpp"
#include "catch.hpp"

#include <concepts>
#include <tuple>

namespace {

using namespace overdub;

constexpr auto pi = fn<"pi">([] { return 3.0; });
constexpr auto area = fn<"area">([](scope auto& cx, auto r) {
  auto p = cx(pi);
  auto s = square(r);
  return p * s;
});

TEST_CASE("contexts observe a call without arguments if it is made through the scope") {
  events list;
  recorder<"A"> a(list);
  recorder<"B"> b(list);
  CHECK(area(2.0) == 12.0);
  CHECK(overdub::run(a, area, 2.0) == 12.0);
  CHECK(list == events{"A area", "A pi", "A square", "A mul", "A mul"});
  list.clear();
  CHECK(overdub::run(compose(a, b), area, 2.0) == 12.0);
  CHECK(
      list == events{
                  "A area", "B area.A", "A pi", "B pi.A", "A square", "B square.A", "A mul", "B mul", "A mul",
                  "B mul"});
}

constexpr auto factorial = fn<"factorial">([](scope auto& cx, auto n) -> decltype(n) {
  return if_(
      n < i64{2}, [&] { return cx.lift(i64{1}); }, [&] { return n * cx.self(n - i64{1}); });
});

TEST_CASE("cx.self is a recursive call, in the contexts of the function") {
  events list;
  recorder<"A"> a(list);
  CHECK(factorial(i64{10}) == 3628800);
  CHECK(overdub::run(a, factorial, i64{3}) == 6);
  CHECK(
      list == events{
                  "A factorial", "A lt", "A if", "A sub", "A factorial", "A lt", "A if", "A sub",
                  "A factorial", "A lt", "A if", "A mul", "A mul"});
  CHECK(overdub::run(compose(a, a), factorial, i64{10}) == 3628800);
}

constexpr auto constants = fn<"constants">([](scope auto& cx, auto x) {
  auto one = cx.lift(1.0);
  auto tree = cx.lift(std::tuple{1.0, i64{2}});
  auto same = cx.lift(x);
  static_assert(std::same_as<decltype(same), decltype(x)>);
  static_assert(std::same_as<decltype(one), decltype(x)>);
  return one + std::get<0>(tree) + same;
});

TEST_CASE("cx.lift makes constants of the contexts, and returns their values unchanged") {
  events list;
  recorder<"A"> a(list);
  CHECK(constants(2.0) == 4.0);
  CHECK(overdub::run(a, constants, 2.0) == 4.0);
  CHECK(overdub::run(compose(a, a), constants, 2.0) == 4.0);
}

constexpr auto through = fn<"through">([](scope auto& cx, auto x) {
  auto a = cx(square, 2.0);
  auto b = cx(overdub::sqrt, 4.0);
  auto c = cx([](auto y) { return y + 1.0; }, 5.0);
  return std::tuple{a, b, c, x};
});

TEST_CASE("cx calls functions, primitives and function objects of plain arguments in the contexts") {
  events list;
  recorder<"A"> a(list);
  CHECK(overdub::run(a, through, 0.0) == std::tuple{4.0, 2.0, 6.0, 0.0});
  CHECK(list == events{"A through", "A square", "A mul", "A sqrt", "A add"});
}

TEST_CASE("a function object that takes the scope can be run without fn") {
  events list;
  recorder<"A"> a(list);
  CHECK(
      overdub::run(
          a, [](scope auto& cx, auto x) { return cx(square, 2.0) + x; }, 1.0) == 5.0);
  CHECK(list == events{"A square", "A mul", "A add"});
}

TEST_CASE("a scope can start a run, one level outside of it") {
  events list;
  recorder<"A"> a(list);
  recorder<"B"> b(list);
  auto const program = [&](scope auto& cx, auto x) { return overdub::overdub(b, cx, square, 3.0) + x; };
  CHECK(overdub::run(a, program, 1.0) == 10.0);
  CHECK(list == events{"B square", "A square.B", "B mul", "A mul", "A add"});
}

} // namespace
