// Single precision: programs that run in it, and the accuracy that they would lose.
#include "catch.hpp"
#include "property.hpp"

#include <overdub/compile/compile.hpp>
#include <overdub/contexts/count.hpp>
#include <overdub/contexts/forward.hpp>
#include <overdub/contexts/precision.hpp>
#include <overdub/derivative.hpp>
#include <overdub/ir/print.hpp>
#include <overdub/pass/pipeline.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

namespace {

namespace od = overdub;
using od::i64;
using od::contexts::forward;
using od::contexts::precision;
using od::contexts::single_precision;

// In a function of floats the literals are floats, too.
template <class X>
constexpr auto number(X const&, double c) {
  return static_cast<od::plain_t<X>>(c);
}
inline constexpr auto polynomial = od::fn<"polynomial">(
    [](auto x) { return ((number(x, 0.1) * x - number(x, 1.7)) * x + number(x, 3.3)) / x; });
inline constexpr auto curve = od::fn<"curve">([](auto x) {
  auto const y = od::sin(x) * od::exp(-x * x) + od::sqrt(od::abs(x));
  return od::select(y > number(x, 0.5), od::max(y, x), od::fma(x, y, number(x, 0.3)));
});
inline constexpr auto series = od::fn<"series">([](auto x) {
  return od::loop(20, x, [](auto i, auto y) {
    return y * number(y, 0.9) + number(y, 0.1) * od::cos(y) -
           y / od::convert<od::plain_t<decltype(y)>>(i + 3);
  });
});
inline constexpr auto statistics = od::fn<"statistics">([](auto xs) {
  auto const mean = od::sum(xs) / number(od::sum(xs), 8);
  return od::dot(xs, xs) / number(mean, 8) - mean * mean;
});

bool same(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b) || (a != a && b != b);
}
template <class F>
bool agrees(F const& f, double x) {
  single_precision context;
  return same(od::run(context, f, x), static_cast<double>(f(static_cast<float>(x))));
}
od::array<double> wide(od::array<float> const& xs) { return od::map(od::convert<double>, xs); }

inline constexpr auto cancelling = od::fn<"cancelling">([](auto x) {
  auto const y = x + 1004.0;
  return y - x;
});
inline constexpr auto outer = od::fn<"outer">([](auto x) { return cancelling(x) * 2.0; });

} // namespace

TEST_CASE("single precision has the result of the function of floats, to the bit") {
  for (double x :
       {0.0, -0.0, 1.0, 0.1, -3.7, 1e-30, 1e30, 1e300, -1e-300, std::numeric_limits<double>::infinity()}) {
    CHECK(agrees(polynomial, x));
    CHECK(agrees(curve, x));
    CHECK(agrees(series, x));
  }
  property([] { RC_ASSERT(agrees(polynomial, any<double>())); });
  property([] { RC_ASSERT(agrees(curve, any<double>())); });
  property([] { RC_ASSERT(agrees(series, any<double>())); });
  single_precision context;
  CHECK(od::run(context, polynomial, 0.3) != polynomial(0.3));
}

TEST_CASE("sums and products of arrays in single precision are those of floats, in the same order") {
  single_precision context;
  property([&] {
    std::vector<float> numbers;
    for (int n = *rc::gen::inRange(0, 40); n > 0; --n) numbers.push_back(any<float>());
    auto const xs = od::array<float>::copy_of(numbers);
    RC_ASSERT(same(od::run(context, statistics, wide(xs)), static_cast<double>(statistics(xs))));
  });
}

TEST_CASE("large integers lose accuracy in conversions to float, and bools and other types are unchanged") {
  single_precision context;
  auto const f = od::fn<"f">([](auto n) { return od::convert<double>(n) + 0.0; });
  CHECK(od::run(context, f, i64{16777217}) == 16777216.0);
  CHECK(
      od::run(context, od::fn<"g">([](auto n) { return n * n + 1; }), i64{16777217}) ==
      i64{16777217} * 16777217 + 1);
  CHECK(od::run(context, od::fn<"h">([](auto x) { return x * 3; }), 0.1) == static_cast<double>(0.1f * 3.0f));
  CHECK(
      od::run(context, od::fn<"k">([](auto x) { return ldexp(x, 200); }), 1.0) ==
      std::numeric_limits<double>::infinity());
  CHECK(od::run(context, od::fn<"l">([](auto x) { return x == 0.1 + 1e-12; }), 0.1));
  CHECK(od::run(context, polynomial, 0.3f) == polynomial(0.3f));
}

TEST_CASE("the derivative can be computed in single precision, or taken of the single-precision program") {
  auto const derivative = [](auto const& context) {
    auto c = context;
    return od::run(c, curve, od::tag(0.7, 1.0)).metadata;
  };
  double const exact = derivative(forward{});
  for (double const d :
       {derivative(od::compose(forward{}, single_precision{})),
        derivative(od::compose(single_precision{}, forward{}))}) {
    CHECK(d != exact);
    CHECK(d == Approx(exact).epsilon(1e-5));
  }
}

TEST_CASE("a single-precision program has no doubles between its operations, and the same results") {
  CHECK(
      od::ir::print(od::stage(
          single_precision{}, od::fn<"f">([](auto x) { return x * 0.5; }), od::signature<double>)) ==
      R"(entry @f.single

func @f.single(%0: f64) -> f64 {
  %1 = convert %0 : f32
  %2 = mul %1, 0.5f32 : f32
  %3 = convert %2 : f64
  return %3
}
)");
  od::ir::program p = od::stage(
      single_precision{}, od::fn<"g">([](auto x) { return sin(x * 0.5) + x; }), od::signature<double>);
  od::pass::default_pipeline(p);
  CHECK(od::ir::print(p) == R"(entry @g.single

func @g.single(%0: f64) -> f64 {
  %1 = convert %0 : f32
  %2 = mul %1, 0.5f32 : f32
  %3 = sin %2 : f32
  %4 = add %3, %1 : f32
  %5 = convert %4 : f64
  return %5
}
)");
  single_precision context;
  auto const f = od::compile(context, series, od::signature<double>);
  auto const g = od::compile(context, statistics, od::signature<od::array<double>>);
  for (double x : {-2.5, 0.0, 0.1, 17.0}) {
    CHECK(same(f(x), od::run(context, series, x)));
    od::array<double> const xs{x, 1.0, 0.1, 3 * x, 5.0, 6.0, 7.0, x, 8.5};
    CHECK(same(g(xs), od::run(context, statistics, xs)));
  }
}

TEST_CASE(
    "precision reports the operations that lose accuracy, and their functions, the greatest loss first") {
  precision p;
  CHECK(od::run(p, outer, 1e-3) == outer(1e-3)); // no accuracy is lost
  CHECK(p.losses().empty());
  od::run(p, od::fn<"large">([](auto x) { return x * 1e30; }), 1e10);
  auto const found = p.losses();
  REQUIRE(found.size() == 1);
  CHECK((found[0].function == "large" && found[0].operation == "mul"));
  CHECK(std::isinf(found[0].worst));
  CHECK((found[0].in_double == 1e40 && std::isinf(found[0].in_single) && found[0].operands[0] == 1e10));
  precision q;
  od::run(q, outer, 123456789.0); // 123457793 - 123456789, which are no floats
  auto const lost = q.losses();
  REQUIRE(lost.size() == 1);
  CHECK((lost[0].function == "cancelling" && lost[0].operation == "sub" && lost[0].calls == 1));
  float const a = 123457793.0f, b = 123456789.0f;
  CHECK(lost[0].in_single == static_cast<double>(a - b));
  CHECK(lost[0].worst == Approx(std::abs(static_cast<double>(a - b) - 1004) / 1004).epsilon(1e-12));
}

TEST_CASE("precision counts changed comparisons, changed integers, and additions in sums of arrays") {
  precision p;
  od::run(p, od::fn<"less">([](auto x) { return x < x + 1.0; }), 1e9);
  od::run(p, od::fn<"whole">([](auto x) { return od::convert<i64>(x * 1.0); }), 123456789.0);
  od::run(p, statistics, od::array<double>(od::map([](auto) { return 0.1; }, od::iota(100000))));
  std::vector<std::string> places;
  for (auto const& r : p.losses()) places.push_back(std::string(r.function) + " " + std::string(r.operation));
  CHECK(p.losses().front().worst == 1.0);
  CHECK(places.front() == "less lt");
  p.tolerance = 1e-9;
  precision strict(1e-9);
  od::run(strict, od::fn<"whole">([](auto x) { return od::convert<i64>(x); }), 123456789.0);
  REQUIRE(strict.losses().size() == 1);
  CHECK(strict.losses()[0].in_single == 123456792.0);
  precision sums(1e-8); // precision compares each addition of a sum separately
  od::run(sums, od::fn<"total">([](auto xs) { return od::sum(xs); }), od::fill(i64{100000}, 0.1));
  REQUIRE(sums.losses().size() == 1);
  CHECK((sums.losses()[0].operation == "add" && sums.losses()[0].calls == 100000));
  CHECK(sums.losses()[0].worst < 2e-7);
}

TEST_CASE("precision works inside and outside of other contexts, and after an exception") {
  precision p, inside;
  auto const fail = od::leaf<"fail">([](double) -> double { throw 1; });
  CHECK_THROWS(od::run(p, od::fn<"failing">([&](auto x) { return fail(x); }), 1.0));
  od::run(p, outer, 123456789.0);
  CHECK(p.losses().at(0).function == "cancelling");
  od::run(od::compose(forward{}, inside), outer, od::tag(123456789.0, 1.0));
  CHECK(inside.losses().at(0).function == "cancelling.forward");
}

TEST_CASE("precision prints its findings as a table") {
  precision p;
  od::run(p, outer, 123456789.0);
  std::ostringstream out;
  out << p;
  CHECK(
      out.str() == "where                        calls    losses     worst  double         single\n"
                   "cancelling: sub                  1         1   4.0e-03  1004           1000\n");
}

TEST_CASE("precision observes staged programs as it observes direct runs") {
  precision direct, compiled;
  od::run(direct, outer, 123456789.0);
  od::run(direct, series, 1e5);
  CHECK(od::compile(compiled, outer, od::signature<double>)(123456789.0) == outer(123456789.0));
  (void)od::compile(compiled, series, od::signature<double>)(1e5);
  auto const a = direct.losses(), b = compiled.losses();
  REQUIRE(a.size() == b.size());
  CHECK(!a.empty());
  for (std::size_t i = 0; i < a.size(); ++i) {
    CHECK((a[i].function == b[i].function && a[i].operation == b[i].operation && a[i].calls == b[i].calls));
    CHECK((a[i].worst == b[i].worst && a[i].operands == b[i].operands));
  }
}
