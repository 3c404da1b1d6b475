// Whether a predicate holds for all, or for any, elements of a range, and whether two ranges are equal: without <algorithm>, whose 8,000
// lines each unit that stages would parse.
#pragma once

#include <overdub/core/requirements.hpp>

namespace overdub::detail {

template <class Range, class Predicate>
constexpr bool holds_for_all(Range const& range, Predicate const& holds) {
  for (auto const& each : range)
    if (!holds(each)) return false;
  return true;
}

template <class Range, class Predicate>
constexpr bool holds_for_any(Range const& range, Predicate const& holds) {
  for (auto const& each : range)
    if (holds(each)) return true;
  return false;
}

template <class A, class B, class Same>
constexpr bool equal_ranges(A const& a, B const& b, Same const& same) {
  auto at = b.begin();
  for (auto const& each : a)
    if (at == b.end() || !same(each, *at++)) return false;
  return at == b.end();
}
template <class A, class B>
constexpr bool equal_ranges(A const& a, B const& b) {
  return equal_ranges(a, b, [](auto const& x, auto const& y) { return x == y; });
}

} // namespace overdub::detail
