// Programs in a build with ambient contexts: what staged, compiled and differentiated functions call is not observed, but for C++ that they run.
#include "catch.hpp"

#include <overdub/ambient.hpp>
#include <overdub/contexts/count.hpp>
#include <overdub/incremental.hpp>
#include <overdub/reverse.hpp>
#include <overdub/stage/evaluate.hpp>
#include <overdub/stage/stage.hpp>

namespace {

namespace od = overdub;

constexpr auto square = od::fn<"square">([](auto x) { return x * x; });
constexpr auto twice_square = od::fn<"twice_square">([](auto x) { return square(x) + square(x); });

TEST_CASE("programs make no calls that ambient contexts observe") {
  od::contexts::count_each c;
  od::ambient const with(c);
  auto const program = od::stage(twice_square, od::types<double>{});
  CHECK(od::evaluate<double>(program, 3.0) == 18);
  CHECK(od::gradient(twice_square)(3.0) == 12); // a function with a name of its own
  auto f = od::incremental(twice_square, 3.0);
  f.set<0>(4.0);
  CHECK(f.propose() == 32);
  CHECK(c.callees().size() == 1);
  CHECK(c.calls("gradient") == 1);
  CHECK(twice_square(3.0) == 18);
  CHECK(c.calls("twice_square", "square") == 2);
}

} // namespace
