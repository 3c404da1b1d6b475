// Plain arrays, which have no context, as arguments of operations in a staged function.
#include "catch.hpp"

#include <overdub/execute/interpreter.hpp>
#include <overdub/stage/stage.hpp>

#include <tuple>

namespace {

using namespace overdub;

template <class Body>
void check_same(Body const& body) {
  auto const f = fn<"f">(body);
  array<double> const xs{0.5, -2.0, 3.0};
  CHECK(executable(stage(f, signature<array<double>>)).template call<double>(xs) == f(xs));
}

} // namespace

TEST_CASE("map accepts plain arrays in a staged function") {
  check_same([](auto xs) {
    return sum(map([](auto a, auto b) { return a * b; }, xs, array<double>{1.0, 2.0, 3.0}));
  });
  check_same([](scope auto& cx, auto xs) {
    return sum(cx(
        map, [&](auto i) { return xs[0] * convert<double>(i); }, iota(i64{4})));
  });
}
TEST_CASE("scan accepts plain arrays in a staged function") {
  check_same([](scope auto& cx, auto xs) {
    auto const [last, sums] = cx(
        scan,
        [&](auto s, auto x) {
          auto const next = s + x * xs[0];
          return std::tuple{next, next};
        },
        0.0 * xs[0], array<double>{1.0, 2.0, 3.0});
    return last + sum(sums);
  });
}
