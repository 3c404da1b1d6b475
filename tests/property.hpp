// property(f): RapidCheck runs f many times, on random numbers that f draws by any<T>(); f asserts with
// RC_ASSERT.
#pragma once

#include "catch.hpp"

#include <rapidcheck.h>

#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <sstream>
#include <type_traits>
#include <vector>

template <class F>
void property(F const& f) {
  auto const result = rc::detail::checkTestable(f);
  std::ostringstream text;
  rc::detail::printResultMessage(result, text);
  INFO(text.str());
  CHECK(result.template is<rc::detail::SuccessResult>());
}

// Corner cases of arithmetic.
template <class T>
std::vector<T> corner_cases() {
  using limits = std::numeric_limits<T>;
  if constexpr (std::floating_point<T>)
    return {
        T{0},
        -T{0},
        T{1},
        -T{1},
        limits::infinity(),
        -limits::infinity(),
        limits::max(),
        limits::min(),
        limits::lowest(),
        limits::denorm_min(),
        limits::quiet_NaN()};
  else
    return {T{0}, T{1}, T(-1), limits::min(), limits::max(), T(limits::max() - 1)};
}

// Any number, often a corner case.
template <class T>
T any() {
  if constexpr (std::is_same_v<T, bool>)
    return *rc::gen::arbitrary<bool>();
  else if constexpr (std::integral<T>)
    return *rc::gen::oneOf(
        rc::gen::elementOf(corner_cases<T>()), rc::gen::inRange<T>(T(0), T(100)),
        rc::gen::resize(rc::kNominalSize, rc::gen::arbitrary<T>()));
  else {
    using bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
    return *rc::gen::oneOf(
        rc::gen::elementOf(corner_cases<T>()),
        rc::gen::map(rc::gen::inRange(-1000, 1000), [](int i) { return static_cast<T>(i) / T{16}; }),
        rc::gen::map(rc::gen::resize(rc::kNominalSize, rc::gen::arbitrary<bits>()), [](bits b) {
          return std::bit_cast<T>(b);
        }));
  }
}

// A number in [low, high).
inline double between(double low, double high) {
  return low + (high - low) * static_cast<double>(*rc::gen::inRange(0, 1 << 20)) / (1 << 20);
}

// Equal to the bit, of one type; NaN is NaN, whatever its payload.
template <class T, class U>
bool same_bits(T a, U b) {
  if constexpr (!std::is_same_v<T, U>)
    return false;
  else if constexpr (std::floating_point<T>)
    return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
  else
    return a == b;
}
