// parallel_map in programs is map, so that functions with it are compiled, differentiated and updated.
#include "catch.hpp"

#include <overdub/control/parallel.hpp>
#include <overdub/ir/print.hpp>
#include <overdub/overdub.hpp>
#include <overdub/reverse.hpp>
#include <overdub/stage/stage.hpp>

#include <string>

namespace {

namespace od = overdub;
using numbers = od::array<double>;

constexpr auto square = od::fn<"square">([](auto x) { return x * x; });
constexpr auto in_parallel =
    od::fn<"total">([](auto const& xs) { return od::sum(od::parallel_map(square, xs)); });
constexpr auto in_order = od::fn<"total">([](auto const& xs) { return od::sum(od::map(square, xs)); });
constexpr auto scaled = od::fn<"scaled">([](od::scope auto& cx, auto const& xs, auto k) {
  return od::sum(cx(
      od::parallel_map.on(2), [&](auto x) { return x * k; }, xs));
});

} // namespace

TEST_CASE("a function with parallel_map is staged as one with map") {
  auto const text = [](auto const& f) { return od::ir::print(od::stage(f, od::signature<numbers>)); };
  CHECK(text(in_parallel) == text(in_order));
}

TEST_CASE("functions with parallel_map are differentiated") {
  numbers const xs{1.0, 2.0, -3.0};
  numbers const g = od::gradient(in_parallel)(xs);
  for (od::i64 i = 0; i < xs.size(); ++i) CHECK(g[i] == 2.0 * xs[i]);
  CHECK(od::gradient<1>(scaled)(xs, 5.0) == 0.0);
}
