// The growth law: the cost of one of many items is that of one of a few.
#pragma once

#include "catch.hpp"
#include "growth/work.hpp"

#include <cstdint>

namespace growth {

constexpr std::int64_t few = 60, some = 600, many = 6'000; // two decades

/// The cost of one further item, from few to some and from some to many. Fixed costs are in neither.
inline void check_each(char const* what, double of_few, double of_some, double of_many, double limit = 1.1) {
  double const early = (of_some - of_few) / (some - few), late = (of_many - of_some) / (many - some);
  INFO(
      what << ": " << early << " blocks for each from " << few << " to " << some << ", " << late
           << " for each from there to " << many);
  CHECK(early > 0);
  CHECK(late <= limit * early);
}
/// The same for `work(n)`.
template <class Work>
void check_each(char const* what, Work const& work, double limit = 1.1) {
  check_each(what, work(few), work(some), work(many), limit);
}

} // namespace growth
