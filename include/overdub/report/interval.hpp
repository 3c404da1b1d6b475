// interval: the range of an axis.
#pragma once

#include <overdub/core/requirements.hpp>

#include <algorithm>

namespace overdub::report {

/// The numbers from low to high. It is empty if low is greater than high.
struct interval {
  double low = 1, high = -1;

  bool empty() const { return low > high; }
  double length() const { return high - low; }
  void add(double x) { *this = empty() ? interval{x, x} : interval{std::min(low, x), std::max(high, x)}; }
};

} // namespace overdub::report
