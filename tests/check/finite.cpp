#include "catch.hpp"

#include <overdub/compile/compile.hpp>
#include <overdub/contexts/check_finite.hpp>
#include <overdub/contexts/count.hpp>
#include <overdub/contexts/forward.hpp>
#include <overdub/stage/evaluate.hpp>

#if OVERDUB_TESTS_JIT
#include <overdub/jit/executor.hpp>
#endif

#include <boost/hana/define_struct.hpp>

#include <limits>
#include <string>
#include <tuple>
#include <utility>

namespace {

template <class T>
struct point {
  BOOST_HANA_DEFINE_STRUCT(point, (T, x), (T, y));
};

using namespace overdub;
using contexts::check_finite;
using contexts::not_finite;

constexpr auto slope = fn<"slope">([](auto x) { return 1.0 / x; });
constexpr auto root = fn<"root">([](auto x) { return overdub::log(slope(x - 1.0)); });
constexpr auto total = fn<"total">([](auto xs) { return sum(xs); });
constexpr auto largest_of =
    fn<"largest_of">([](auto xs) { return reduce([](auto x, auto y) { return slope(max(x, y)); }, xs); });
constexpr auto gauge = leaf<"gauge">([](double x) { return 1 / (x - 2); }, effects::pure);
constexpr auto measured = fn<"measured">([](auto x) { return gauge(x); });
constexpr auto shorter = fn<"shorter">([](auto x) { return convert<float>(x); });

template <class F>
std::string thrown_by(F const& f) {
  try {
    (void)f();
  } catch (not_finite const& e) {
    return e.what();
  }
  return "";
}
template <class F, class... X>
std::string found(F const& f, X const&... x) {
  check_finite context;
  std::string text = thrown_by([&] { return run(context, f, x...); });
  CHECK(context.path.empty()); // the context can be used again
  return text;
}

} // namespace

TEST_CASE("check_finite names the operation with the first result that is not finite, and its callers") {
  CHECK(found(root, 1.0) == "overdub: div(1, 0) gave inf, in slope, called by root");
  std::string const text = found(root, 0.0);
  CHECK((text == "overdub: log(-1) gave -nan, in root" || text == "overdub: log(-1) gave nan, in root"));
  CHECK(found(root, 3.0) == "");
}
TEST_CASE("check_finite accepts arguments that are not finite") {
  constexpr double infinity = std::numeric_limits<double>::infinity(),
                   nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(found(root, nan) == "");
  CHECK(found(slope, infinity) == "");
  CHECK(found(total, array<double>{1, infinity}) == "");
}
TEST_CASE("check_finite finds sums, reductions, native functions and conversions that are not finite") {
  CHECK(found(total, array<double>{1e308, 1e308}) == "overdub: add(1e+308, 1e+308) gave inf, in total");
  CHECK(
      found(largest_of, array<double>{0, 0, -1}) ==
      "overdub: div(1, 0) gave inf, in slope, called by largest_of");
  CHECK(found(measured, 2.0) == "overdub: gauge(2) gave inf, in measured");
  CHECK(found(shorter, 1e300) == "overdub: convert(1.0000000000000001e+300) gave inf, in shorter");
  CHECK(found(shorter, 1.0) == "");
}
TEST_CASE("check_finite searches tuples, structs and arrays that native functions return") {
  constexpr auto both = leaf<"both">([](double x) { return std::tuple{x, 1 / x}; }, effects::pure);
  constexpr auto second = fn<"second">([=](auto x) { return std::get<1>(both(x)); });
  CHECK(found(second, 0.0) == "overdub: both(0) gave (0, inf), in second");
  CHECK(found(second, 2.0) == "");
  constexpr auto nested = leaf<"nested">(
      [](double x) {
        return std::pair{1, point<double>{x, 1 / x}};
      },
      effects::pure);
  constexpr auto height = fn<"height">([=](auto x) { return nested(x).second.y; });
  CHECK(found(height, 0.0) == "overdub: nested(0) gave (1, 0, inf), in height");
  constexpr auto rows = leaf<"rows">(
      [](double x) {
        return std::tuple{x, array<double>{1.0, 1 / x}};
      },
      effects::pure);
  constexpr auto last = fn<"last">([=](auto x) { return at(std::get<1>(rows(x)), 1); });
  CHECK(found(last, 0.0) == "overdub: rows(0) gave (0, ...), in last");
}
TEST_CASE("check_finite inside of forward checks derivatives, too, and outside of it the program alone") {
  constexpr auto kink = fn<"kink">([](auto x) { return overdub::sqrt(x); });
  check_finite inner, outer;
  CHECK(thrown_by([&] {
          return run(compose(contexts::forward{}, inner), kink, tag(0.0, 1.0));
        }) == "overdub: strong_div(1, 0) gave inf, in kink.forward");
  CHECK(thrown_by([&] { return run(compose(outer, contexts::forward{}), kink, tag(0.0, 1.0)); }) == "");
}
TEST_CASE("check_finite and count observe the same calls") {
  check_finite context;
  contexts::count count;
  CHECK(run(compose(context, count), root, 3.0) == root(3.0));
  CHECK((count.functions == 2 && count.primitives == 3));
}
TEST_CASE("check_finite has the same findings staged, interpreted, compiled and in a direct run") {
  for (double const x : {0.0, 1.0, 3.0}) {
    std::string const direct = found(root, x);
    check_finite staged;
    ir::program const p = stage(staged, root, signature<double>);
    CHECK(thrown_by([&] { return evaluate<double>(p, x); }) == direct);
    CHECK(staged.path.empty());
    check_finite context;
    auto const interpreted = compile(context, root, signature<double>);
    CHECK(thrown_by([&] { return interpreted(x); }) == direct);
    CHECK(context.path.empty());
#if OVERDUB_TESTS_JIT
    auto const compiled =
        compile(context, root, signature<double>, {.executor = jit::compiled(), .tiers = tiers::compile_now});
    CHECK(thrown_by([&] { return compiled(x); }) == direct);
    CHECK(context.path.empty());
#endif
  }
}
