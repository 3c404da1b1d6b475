// Runs that are started inside a running function, with its scope.
#include "catch.hpp"

#include <overdub/contexts/forward.hpp>
#include <overdub/derivative.hpp>

namespace {

using namespace overdub;
using contexts::forward;

// D(y -> x y) at 2 is x, so that the product is x^2.
constexpr auto square = fn<"square">([](scope auto& cx, auto x) {
  forward inner;
  auto const slope = overdub::overdub(
      inner, cx, [x](auto y) { return x * y; }, tag(2.0, 1.0));
  return x * slope.metadata;
});

TEST_CASE(
    "an argument that was tagged for an inner run has its tag in a run that is started with the scope") {
  CHECK(overdub::run(forward{}, square, tag(3.0, 1.0)).inner == 9.0);
  CHECK(derivative(square, 3.0) == 6.0);
  CHECK(derivative([](auto x) { return derivative(square, x); }, 3.0) == 2.0);
}

} // namespace
