// Run by clang: its functions are rewritten in contexts of many kinds.
//
// Functions that are replaced in all calls of a program, on each executor.
#include "catch.hpp"

#include <overdub/compile/compile.hpp>
#include <overdub/contexts/count.hpp>
#include <overdub/contexts/forward.hpp>
#include <overdub/contexts/log.hpp>
#include <overdub/contexts/mock.hpp>
#include <overdub/contexts/slice.hpp>
#include <overdub/ir/print.hpp>

#include <cmath>
#include <sstream>
#include <stdexcept>
#include <tuple>

namespace {

namespace od = overdub;
using od::i64;
using od::contexts::forward;
using od::contexts::mock;

int fetched = 0;
inline constexpr auto fetch = od::leaf<"fetch">([](double key) -> double {
  ++fetched;
  throw std::runtime_error("no network for " + std::to_string(key));
});
inline constexpr auto now = od::leaf<"now">([] { return 1e9; }, od::effects::reads_context);
inline constexpr auto rate = od::fn<"rate">([](auto x) { return x + 100.0; });
inline constexpr auto middle = od::fn<"middle">([](auto x) { return rate(x) * 2.0; });
inline constexpr auto top = od::fn<"top">([](auto x) {
  auto const a = rate(x);
  return a + middle(x);
});
inline constexpr auto online = od::fn<"online">([](od::scope auto& cx, auto x) {
  auto const y = fetch(x);
  return y + cx(now);
});
inline constexpr auto depth = od::fn<"depth">([](od::scope auto& cx, auto n) -> decltype(n) {
  return od::if_(
      n <= 0, [&] { return cx.lift(i64{0}); }, [&] { return cx.self(n - 1) + 1; });
});
inline constexpr auto same = [](auto x) { return x; };

} // namespace

TEST_CASE("mock replaces a function at every depth of a run, and not outside of the run") {
  auto m = mock(rate, same);
  CHECK(od::run(m, top, 1.0) == 3.0);
  CHECK(top(1.0) == 303.0);
}

TEST_CASE("mock replaces native functions, also those without arguments, and operations") {
  fetched = 0;
  auto const both =
      od::compose(mock(fetch, [](auto key) { return 2.0 * key; }), mock(now, [] { return 1.0; }));
  CHECK(od::run(both, online, 3.0) == 7.0);
  CHECK(fetched == 0);
  CHECK_THROWS_WITH(online(3.0), Catch::Contains("no network"));
  auto m = mock(od::sqrt, [](auto x) { return pow(x, 0.5) + 1.0; });
  CHECK(od::run(m, od::fn<"f">([](auto x) { return od::sqrt(x); }), 4.0) == 3.0);
}

TEST_CASE("mock replaces the function that is run, too") {
  auto m = mock(top, same);
  CHECK(od::run(m, top, 5.0) == 5.0);
}

TEST_CASE("a replacement may call the replaced function, without infinite recursion") {
  auto m = mock(rate, [](auto x) { return rate(rate(x)); });
  CHECK(od::run(m, middle, 1.0) == 402.0);
}

TEST_CASE("mock below a function applies at any depth below it, and nowhere else") {
  CHECK(od::run(mock(rate, same).below(middle), top, 1.0) == 101.0 + 2.0);
  CHECK(od::run(mock(rate, same).below(top), top, 1.0) == 3.0);
  CHECK(od::run(mock(rate, same).below(depth), top, 1.0) == 303.0);
  CHECK(od::run(mock(od::add, [](auto x, auto) { return x; }).below(middle), top, 1.0) == 101.0 + 2.0);
}

TEST_CASE("mock at_depth applies to calls of the given depths, starting with the run") {
  auto const m = mock(rate, same);
  CHECK(od::run(m.at_depth<0, 1>(), top, 1.0) == 1.0 + 202.0);
  CHECK(od::run(m.at_depth<1>(), top, 1.0) == 3.0);
  CHECK(od::run(m.at_depth<2>(), top, 1.0) == 101.0 + 2.0);
  CHECK(od::run(m.at_depth<3>(), top, 1.0) == 303.0);
  CHECK(od::run(m.at_depth<0, 0>(), rate, 1.0) == 1.0);
  CHECK(od::run(m.below(middle).at_depth<1, 1>(), top, 1.0) == 101.0 + 2.0);
  CHECK(od::run(m.below(middle).at_depth<2>(), top, 1.0) == 303.0);
  CHECK(od::run(m.below(top).at_depth<1, 1>(), top, 1.0) == 1.0 + 202.0);
}

TEST_CASE("mock at_depth ends a recursion at that depth") {
  auto const zero = [](auto n) { return 0 * n; };
  CHECK(od::run(mock(depth, zero).at_depth<3>(), depth, i64{1000}) == 3);
  CHECK(od::run(mock(depth, zero).at_depth<1>(), depth, i64{1000}) == 1);
  CHECK(od::run(mock(depth, zero).at_depth<5>(), depth, i64{2}) == 2);
  CHECK(od::run(mock(depth, [](auto n) { return n; }).below(depth), depth, i64{7}) == 7);
}

TEST_CASE("a replacement may have captures, also with at_depth") {
  double offset = 10;
  int calls = 0;
  auto m = mock(rate, [&](auto x) {
    ++calls;
    return x + offset;
  });
  CHECK(od::run(m, top, 1.0) == 33.0);
  offset = 20;
  auto at_two = m.at_depth<2>();
  CHECK(od::run(at_two, top, 1.0) == 101.0 + 42.0);
  CHECK(calls == 3);
}

TEST_CASE("an exception of a replacement propagates through the program") {
  auto m = mock(rate, [](auto x) {
    if (x > 0.0) throw std::domain_error("mocked");
    return x;
  });
  CHECK_THROWS_WITH(od::run(m, top, 1.0), "mocked");
  CHECK(od::run(m, top, -1.0) == -3.0);
}

TEST_CASE("inner contexts observe the replacement, and outer contexts the call") {
  od::contexts::count_of<decltype(rate), od::neg_t> outside, inside;
  auto m = mock(rate, [](auto x) { return -x; });
  auto const r = od::run(od::compose(outside, m, forward{}, inside), top, od::tag(1.0, 1.0));
  CHECK((r.inner == -3.0 && r.metadata == -3.0));
  CHECK((outside(rate) == 2 && inside(rate) == 0 && inside(od::neg) > 0));
  std::ostringstream out;
  od::contexts::log log(out);
  od::run(od::compose(mock(rate, same), log), middle, 1.0);
  CHECK(out.str() == "middle.mock(1)\n  mul(1, 2) = 2\n= 2\n");
}

TEST_CASE("mocks with depths and functions work inside of other contexts, and in one composition") {
  od::contexts::count_of<decltype(rate)> outside;
  auto ten = mock(rate, [](auto x) { return x + 10.0; });
  auto m = od::compose(outside, mock(rate, same).below(middle), ten);
  CHECK(od::run(m, top, 1.0) == 11.0 + 2.0);
  CHECK(outside(rate) == 2);
  CHECK(
      od::run(od::compose(outside, ten.at_depth<2>(), forward{}), top, od::tag(1.0, 1.0)).inner ==
      101.0 + 22.0);
  auto const f =
      od::compile(od::compose(outside, mock(rate, same).below(middle), ten), top, od::signature<double>);
  CHECK(f(1.0) == 13.0);
  CHECK(outside(rate) == 6);
}

TEST_CASE("mock and slice together remove effects that have results") {
  fetched = 0;
  auto const f = od::fn<"f">([](auto x) { return fetch(x) + 1.0; });
  CHECK(od::run(od::compose(mock(fetch, same), od::contexts::slice()), f, 2.0) == 3.0);
  CHECK(fetched == 0);
}

TEST_CASE("a staged program contains the replacement") {
  CHECK(
      od::ir::print(od::stage(mock(rate, same).below(middle), top, od::signature<double>)) ==
      R"(entry @top.mock

func @middle.mock(%0: f64) -> f64 {
  %1 = mul %0, 2.0 : f64
  return %1
}

func @rate.mock(%0: f64) -> f64 {
  %1 = add %0, 100.0 : f64
  return %1
}

func @top.mock(%0: f64) -> f64 {
  %1 = call @rate.mock(%0) : f64
  %2 = call @middle.mock(%0) : f64
  %3 = add %1, %2 : f64
  return %3
}
)");
}

TEST_CASE("compiled programs have the results of direct runs, with loops and derivatives, at all depths") {
  auto m = mock(rate, [](auto x) { return sin(x); });
  auto const looped =
      od::fn<"looped">([](auto x) { return od::loop(3, x, [](auto, auto y) { return top(y); }); });
  auto const agrees = [&](auto c) {
    auto const f = od::compile(c, looped, od::signature<double>);
    for (double x : {-1.5, 0.0, 0.25}) CHECK(f(x) == od::run(c, looped, x));
  };
  agrees(m);
  agrees(m.below(middle));
  agrees(m.at_depth<3>());
  auto both = od::compose(m, forward{});
  auto const g = od::compile(both, looped, od::signature<od::tagged<double, double>>);
  CHECK(g(od::tag(0.5, 1.0)).metadata == od::run(both, looped, od::tag(0.5, 1.0)).metadata);
  auto const h = od::compile(
      od::compose(mock(fetch, same), mock(now, [] { return 1.0; })), online, od::signature<double>);
  CHECK(h(2.0) == 3.0);
  auto recursive = mock(depth, [](auto n) { return 0 * n; }).at_depth<4>();
  CHECK(od::compile(recursive, depth, od::signature<i64>)(100) == 4);
}
