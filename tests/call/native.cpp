// Integer arithmetic and conversions where C++ leaves the result undefined; expected results are literals.
#include "property.hpp"

#include <overdub/overdub.hpp>

#include <cmath>
#include <cstdint>
#include <limits>

namespace {

using overdub::i64;

constexpr i64 lowest = std::numeric_limits<i64>::min();
constexpr i64 highest = std::numeric_limits<i64>::max();
struct no_op : overdub::context {};

} // namespace

TEST_CASE("integers wrap around") {
  CHECK(overdub::add(highest, i64{1}) == lowest);
  CHECK(overdub::sub(lowest, i64{1}) == highest);
  CHECK(overdub::mul(highest, i64{2}) == -2);
  CHECK(overdub::neg(lowest) == lowest);
  CHECK(overdub::abs(lowest) == lowest);
  CHECK(overdub::mul(std::int16_t{300}, std::int16_t{300}) == 90000); // C++ multiplies it as int
  CHECK(overdub::mul(std::uint16_t{65535}, std::uint16_t{65535}) == -131071);
}

TEST_CASE("wrapping arithmetic is that of unsigned numbers") {
  property([] {
    i64 const a = any<i64>();
    i64 const b = any<i64>();
    auto const bits = [](i64 x) { return static_cast<std::uint64_t>(x); };
    RC_ASSERT(bits(overdub::add(a, b)) == bits(a) + bits(b));
    RC_ASSERT(bits(overdub::sub(a, b)) == bits(a) - bits(b));
    RC_ASSERT(bits(overdub::mul(a, b)) == bits(a) * bits(b));
  });
}

TEST_CASE("integer division by zero throws, and the lowest number divided by -1 wraps around") {
  CHECK(overdub::div(lowest, i64{-1}) == lowest);
  CHECK(overdub::rem(lowest, i64{-1}) == 0);
  CHECK(overdub::div(std::numeric_limits<int>::min(), -1) == std::numeric_limits<int>::min());
  CHECK(overdub::div(i64{-7}, i64{2}) == -3);
  CHECK(overdub::rem(i64{-7}, i64{2}) == -1);
  CHECK_THROWS_AS(overdub::div(i64{1}, i64{0}), overdub::division_by_zero);
  CHECK_THROWS_AS(overdub::rem(1, 0), overdub::division_by_zero);
  CHECK_THROWS_AS(
      overdub::run(
          no_op{}, [](auto x) { return x / i64{0}; }, i64{1}),
      overdub::division_by_zero);
  CHECK(overdub::div(1.0, 0.0) == std::numeric_limits<double>::infinity());
}

TEST_CASE("a shift takes its distance modulo the width, and a right shift preserves the sign") {
  CHECK(overdub::shift_left(i64{1}, i64{63}) == lowest);
  CHECK(overdub::shift_left(i64{1}, i64{64}) == 1);
  CHECK(overdub::shift_left(i64{1}, i64{-1}) == lowest);
  CHECK(overdub::shift_left(i64{-1}, i64{1}) == -2);
  CHECK(overdub::shift_right(lowest, i64{63}) == -1);
  CHECK(overdub::shift_right(i64{-8}, i64{65}) == -4);
  CHECK(overdub::shift_left(1, 33) == 2);
  CHECK(overdub::shift_left(std::int16_t{-1}, 4) == -16);
}

TEST_CASE("convert saturates if the target type cannot represent the number, and converts NaN to 0") {
  double const infinity = std::numeric_limits<double>::infinity();
  CHECK(overdub::convert<i64>(1e300) == highest);
  CHECK(overdub::convert<i64>(-1e300) == lowest);
  CHECK(overdub::convert<i64>(infinity) == highest);
  CHECK(overdub::convert<i64>(9223372036854775808.0) == highest);
  CHECK(overdub::convert<i64>(-9223372036854775808.0) == lowest);
  CHECK(overdub::convert<i64>(9223372036854774784.0) == 9223372036854774784);
  CHECK(overdub::convert<i64>(std::numeric_limits<double>::quiet_NaN()) == 0);
  CHECK(overdub::convert<i64>(-2.9) == -2);
  CHECK(overdub::convert<std::int8_t>(127.9) == 127);
  CHECK(overdub::convert<std::int8_t>(-129.0) == -128);
  CHECK(overdub::convert<std::uint8_t>(-1.0) == 0);
  CHECK(overdub::convert<std::int32_t>(3e9f) == std::numeric_limits<std::int32_t>::max());
  CHECK(overdub::convert<float>(1e300) == std::numeric_limits<float>::infinity());
}

TEST_CASE("convert between integers saturates too") {
  CHECK(overdub::convert<std::int32_t>(highest) == std::numeric_limits<std::int32_t>::max());
  CHECK(overdub::convert<std::int32_t>(lowest) == std::numeric_limits<std::int32_t>::min());
  CHECK(overdub::convert<std::uint8_t>(-5) == 0);
  CHECK(overdub::convert<i64>(std::numeric_limits<std::uint64_t>::max()) == highest);
}

TEST_CASE("convert to bool tests whether a number is not 0") {
  CHECK(overdub::convert<bool>(0.25));
  CHECK(overdub::convert<bool>(std::numeric_limits<double>::quiet_NaN()));
  CHECK_FALSE(overdub::convert<bool>(-0.0));
  CHECK_FALSE(overdub::convert<bool>(i64{0}));
}

TEST_CASE("convert is the same in a context") {
  property([] {
    double const x = any<double>();
    float const f = any<float>();
    RC_ASSERT(overdub::run(no_op{}, overdub::convert<i64>, x) == overdub::convert<i64>(x));
    RC_ASSERT(overdub::run(no_op{}, overdub::convert<std::int16_t>, f) == overdub::convert<std::int16_t>(f));
    RC_ASSERT(same_bits(overdub::run(no_op{}, overdub::convert<float>, x), overdub::convert<float>(x)));
    RC_ASSERT(same_bits(overdub::run(no_op{}, overdub::convert<double>, f), static_cast<double>(f)));
  });
}

TEST_CASE("mathematical functions take small integers as C++ does: as double") {
  CHECK(overdub::sqrt(2) == std::sqrt(2.0));
  CHECK(overdub::pow(2.0f, 3) == 8.0);
  CHECK(overdub::run(no_op{}, overdub::sqrt, 2) == std::sqrt(2.0));
}

TEST_CASE("ldexp equals the standard library's, to the bit") {
  property([] {
    double const x = any<double>();
    float const f = any<float>();
    int const n = *rc::gen::oneOf(
        rc::gen::inRange(-2200, 2200), rc::gen::inRange(-160, 160), rc::gen::arbitrary<int>());
    RC_ASSERT(same_bits(overdub::ldexp(x, n), std::ldexp(x, n)));
    RC_ASSERT(same_bits(overdub::ldexp(f, n), std::ldexp(f, n)));
  });
  for (int n = -2200; n <= 2200; ++n)
    for (double x :
         {1.0, -1.7976931348623157e308, 5e-324, 2.2250738585072014e-308, 1.2345678901234567e-310, 0.1}) {
      if (!same_bits(overdub::ldexp(x, n), std::ldexp(x, n))) FAIL_CHECK(x << " and " << n);
      auto const f = static_cast<float>(x);
      if (!same_bits(overdub::ldexp(f, n), std::ldexp(f, n))) FAIL_CHECK(f << " and " << n);
    }
  CHECK(overdub::ldexp(1.0, i64{1} << 40) == std::numeric_limits<double>::infinity());
}
