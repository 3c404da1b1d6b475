// Axes: the range of a plot, the mapping of numbers to pixels, ticks and their labels.
#pragma once

#include <overdub/report/interval.hpp>
#include <overdub/report/text.hpp>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <vector>

namespace overdub::report {

namespace writing {

/// Whether a plot can show a number: it is finite, and so small that differences do not overflow.
inline bool drawable(double x) { return std::abs(x) <= 1e300; }

interval range_of(std::span<double const> numbers);

/// The interval, widened if it is too short for distinct labels.
interval widened(interval shown);

/// The interval, extended by a fraction of its length at both ends.
interval padded(interval shown, double part);

} // namespace writing

/// A linear map from an interval to pixels: low to `from`, high to `to`. Numbers outside are clamped.
class scale {
public:
  scale(interval shown, double from, double to) : shown_(writing::widened(shown)), from_(from), to_(to) {}

  interval const& shown() const { return shown_; }
  double from() const { return from_; }
  double to() const { return to_; }
  double operator()(double x) const {
    return from_ + (std::clamp(x, shown_.low, shown_.high) - shown_.low) / shown_.length() * (to_ - from_);
  }

  /// About `about` round numbers of the interval, for `about` of at least 2: multiples of 1, 2 or 5 times a power of ten (P. S. Heckbert,
  /// "Nice numbers for graph labels", Graphics Gems, 1990).
  std::vector<double> ticks(int about) const;
  /// The label of a tick, with as many digits as distinguish it from the next.
  std::string label(double tick, int about) const;

private:
  double step_of(int about) const;

  interval shown_;
  double from_, to_;
};

} // namespace overdub::report
