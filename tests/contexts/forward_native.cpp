// Native functions in forward accept constants and integers of any shape.
#include "catch.hpp"

#include <overdub/contexts/forward.hpp>

#include <string>
#include <tuple>

namespace od = overdub;
using od::i64;
using overdub::contexts::forward;

TEST_CASE("a native function of inactive trees is called with them, and its result is constant") {
  auto const scale = od::leaf<"scale">([](std::tuple<i64, i64> p, std::string const& unit) {
    return std::tuple(static_cast<double>(std::get<0>(p) * std::get<1>(p)), unit.size());
  });
  auto const f = od::fn<"f">([&](auto x, auto n) {
    auto const [factor, length] = scale(std::tuple(n, n + 1), std::string("km"));
    return x * factor + od::convert<double>(od::convert<i64>(length));
  });
  auto const r = od::run(forward{}, f, od::tag(3.0, 1.0), i64{4});
  CHECK((r.inner == 62.0 && r.metadata == 20.0));
}

TEST_CASE("a native function of active arguments may return a value without a derivative") {
  auto const describe = od::leaf<"describe">([](std::tuple<double, double> p) {
    return std::tuple(std::get<0>(p) < std::get<1>(p), std::string("text"), od::array<i64>{1, 2});
  });
  auto const f = od::fn<"f">([&](auto x) {
    auto const [less, text, numbers] = describe(std::tuple(x, x * x));
    return od::select(less, x * static_cast<double>(text.size()), x) *
           od::convert<double>(od::at(numbers, 1));
  });
  auto const r = od::run(forward{}, f, od::tag(3.0, 1.0));
  CHECK((r.inner == 24.0 && r.metadata == 8.0));
}
