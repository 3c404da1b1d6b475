// Staging of calls, signatures, structs and loops of C++.
#include "catch.hpp"
#include "laws/functions.hpp"

#include <overdub/contexts/fast_math.hpp>
#include <overdub/contexts/forward.hpp>
#include <overdub/ir/print.hpp>
#include <overdub/stage/stage.hpp>

#include <boost/hana/adapt_struct.hpp>
#include <boost/hana/define_struct.hpp>

#include <string>

template <class T>
struct point {
  BOOST_HANA_DEFINE_STRUCT(point, (T, x), (T, y));
};
struct ball {
  double mass;
  double speed;
};
BOOST_HANA_ADAPT_STRUCT(ball, mass, speed);

namespace {

using namespace overdub;

constexpr auto turned = fn<"turned">([](auto p) { return point<decltype(p.x)>{p.y, -p.x}; });
constexpr auto faster = fn<"faster">(
    [](auto b) { return overdub::make<ball>(field<&ball::mass>(b), field<&ball::speed>(b) * 2); });
constexpr auto twice = fn<"twice">([](auto x) { return x + x; });
constexpr auto both_types =
    fn<"both_types">([](auto x, auto n) { return twice(x) * convert<double>(twice(n)); });

std::size_t functions_in(ir::program const& p) {
  std::size_t count = 0;
  for (std::uint32_t i = 0; i < p.functions.size(); ++i) count += p.is_erased(ir::function_id{i}) ? 0 : 1;
  return count;
}

} // namespace

TEST_CASE("calls remain calls, and a function is staged once for each signature") {
  CHECK(functions_in(stage(functions::norm, signature<double, double>)) == 2);
  ir::program const p = stage(both_types, signature<double, i64>);
  CHECK(functions_in(p) == 3);
  CHECK(p.find("twice").has_value());
  CHECK(p.find("twice#2").has_value());
}

TEST_CASE("described structs are flattened, templates and plain ones") {
  CHECK(
      ir::print(stage(turned, signature<point<double>>)) == "entry @turned\n\n"
                                                            "func @turned(%0: f64, %1: f64) -> (f64, f64) {\n"
                                                            "  %2 = neg %0 : f64\n"
                                                            "  return %1, %2\n"
                                                            "}\n");
  ir::program const p = stage(contexts::forward{}, faster, signature<ball>);
  CHECK(p[p.entry].parameters().size() == 4);
  CHECK(p[p.entry].results.size() == 4);
}

TEST_CASE("contexts compose with staging: each rewrites the result of the previous one") {
  ir::program const p =
      stage(compose(contexts::forward{}, contexts::forward{}), functions::square, signature<double>);
  CHECK(p.name_of(p.entry) == "square.forward.forward");
  CHECK(p[p.entry].results.size() == 4);
}

TEST_CASE("an unrolled loop of C++ leads to a note, which names the primitive to use") {
  constexpr auto long_loop = fn<"long_loop">([](auto x) {
    auto s = x;
    for (int i = 0; i < 1500; ++i) s = s * x;
    return s;
  });
  ir::program const p = stage(long_loop, signature<double>);
  REQUIRE(p.notes.size() == 1);
  CHECK_THAT(p.notes[0].text, Catch::Contains("@long_loop has") && Catch::Contains("overdub::loop"));
  CHECK(stage(functions::unrolled, signature<double>).notes.empty());
}

namespace {
template <int N>
struct depth {
  template <class X>
  auto operator()(X x) const {
    if constexpr (N == 0)
      return x;
    else
      return fn<"nest">(depth<N - 1>{})(x);
  }
};
} // namespace

TEST_CASE("an infinite chain of signatures of one function is an error with the chain") {
  CHECK_THROWS_WITH(
      stage(fn<"nest">(depth<70>{}), signature<double>),
      Catch::Contains("more than 64 signatures of nest, each nested in the one before") &&
          Catch::Contains("nest -> nest"));
}
