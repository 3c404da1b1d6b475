// The math mode of a program that is evaluated or rewritten.
#include "catch.hpp"

#include <overdub/contexts/forward.hpp>
#include <overdub/derivative.hpp>
#include <overdub/ir/consistent.hpp>
#include <overdub/ir/parse.hpp>
#include <overdub/stage/evaluate.hpp>

#include <utility>

namespace {

using namespace overdub;

struct no_op : context {};

ir::program wave() {
  return ir::parse(R"(
math consistent
entry @wave
func @wave(%x: f64) -> f64 {
  %y = sin %x : f64
  return %y
}
)");
}
inline constexpr auto evaluated = fn<"evaluated">([](auto x) { return evaluate<double>(wave(), x); });

} // namespace

TEST_CASE("staged programs are exact, and rewriting preserves the mode") {
  no_op context;
  CHECK(stage(fn<"sine">([](auto x) { return overdub::sin(x); }), signature<double>).math == ir::math_mode::exact);
  CHECK(overdub::overdub(context, wave()).math == ir::math_mode::consistent);
}

TEST_CASE("a consistent program is rejected by evaluation if sines are those of C++") {
  static ir::consistent_functions const none{};
  auto const* const kept = std::exchange(ir::consistent, &none);
  CHECK_THROWS_WITH(
      derivative([](auto x) { return evaluate<double>(wave(), x); }, 1.0),
      Catch::Contains("is evaluated on numbers, not on values of contexts"));
  CHECK_THROWS_WITH(
      stage(evaluated, signature<double>), Catch::Contains("set program::math of both to one mode"));
  ir::consistent = kept;
}
