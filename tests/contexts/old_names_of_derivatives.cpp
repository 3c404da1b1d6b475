// The deprecated names of derivatives, and the names that pages use for them, with the headers that declare them alone.
#include "catch.hpp"

#include <overdub/contexts/forward.hpp>
#include <overdub/contexts/old_names.hpp>

#include <array>
#include <concepts>

namespace {

namespace od = overdub;

constexpr auto cube = od::fn<"cube">([](auto x) { return x * x * x; });

static_assert(std::same_as<od::contexts::forward, od::contexts::forward_along<1>>);
static_assert(std::same_as<decltype(od::contexts::tangents<double, 2>{}.along), std::array<double, 2>>);

} // namespace

TEST_CASE("derivatives have their names in overdub, and their deprecated names in contexts") {
  CHECK(od::derivative(cube, 2.0) == 12.0);
  CHECK(od::contexts::derivative(cube, 2.0) == 12.0);
  CHECK(od::value_and_derivative(cube, 2.0).inner == 8.0);
  CHECK(od::contexts::value_and_derivative(cube, 2.0).metadata == 12.0);
}
