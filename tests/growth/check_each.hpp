// The growth law as a check: work for each of many is that for each of few.
#pragma once

#include "catch.hpp"
#include "growth/work.hpp"

#include <cstdint>

namespace growth {

constexpr std::int64_t few = 60, many = 6'000; // two decades

/// What work is for each of few, and for each of many. What is done once is in both, and makes the first figure larger.
inline void check_each(char const* what, double of_few, double of_many, double most = 1.1) {
  double const small = of_few / few, large = of_many / many;
  INFO(what << ": " << small << " blocks for each of " << few << ", " << large << " for each of " << many);
  CHECK(small > 0);
  CHECK(large <= most * small);
}

} // namespace growth
