// Compound assignment, increment and decrement of values.
#include "catch.hpp"

#include <overdub/contexts/count.hpp>
#include <overdub/contexts/forward.hpp>
#include <overdub/derivative.hpp>

namespace {

using namespace overdub;

constexpr auto integers = fn<"integers">([](auto n) {
  auto a = n;
  a += 3, a -= 1, a *= 5, a /= 2, a %= 100, a <<= 2, a >>= 1, a |= 64, a &= 127, a ^= 1;
  auto const first = a++;
  auto const second = ++a;
  auto const third = a--;
  return first + 10 * second + 100 * third + 1000 * --a;
});

TEST_CASE("contexts observe compound assignments to values, which compute the same as on numbers") {
  contexts::count count;
  CHECK(overdub::run(count, integers, i64{7}) == integers(i64{7}));
  CHECK(count.primitives == 10 + 4 + 6);
}

TEST_CASE("assignment to a variable preserves its derivative") {
  CHECK(
      derivative(
          [](auto x) {
            auto y = x;
            y *= x;
            y += 1.0;
            return y++ * x;
          },
          2.0) == 13.0);
}

TEST_CASE("a power with an integer exponent has a derivative") {
  CHECK(derivative([](auto x) { return overdub::pow(x, 3); }, 2.0) == 12.0);
  CHECK(derivative([](auto x) { return overdub::pow(x, 0u); }, 2.0) == 0.0);
}

} // namespace
