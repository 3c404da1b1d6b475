// Axes: the range of a plot, the mapping of numbers to pixels, ticks and their labels.
#pragma once

#include <overdub/report/text.hpp>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <vector>

namespace overdub::report {

/// The numbers from low to high. It is empty if low is greater than high.
struct interval {
  double low = 1, high = -1;

  bool empty() const { return low > high; }
  double length() const { return high - low; }
  void add(double x) { *this = empty() ? interval{x, x} : interval{std::min(low, x), std::max(high, x)}; }
};

namespace writing {

/// Whether a plot can show a number: it is finite, and so small that differences do not overflow.
inline bool drawable(double x) { return std::abs(x) <= 1e300; }

inline interval range_of(std::span<double const> numbers) {
  interval range;
  for (double const x : numbers)
    if (drawable(x)) range.add(x);
  return range;
}

/// The interval, widened if it is too short for distinct labels.
inline interval widened(interval shown) {
  if (shown.empty()) return {0, 1};
  double const magnitude = std::max(std::abs(shown.low), std::abs(shown.high));
  if (shown.length() > std::max(1e-11 * magnitude, 1e-290)) return shown;
  double const half = magnitude > 1e-280 ? magnitude / 100 : 0.5;
  double const middle = shown.low / 2 + shown.high / 2;
  return {middle - half, middle + half};
}

/// The interval, extended by a fraction of its length at both ends.
inline interval padded(interval shown, double part) {
  return {shown.low - part * shown.length(), shown.high + part * shown.length()};
}

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
  std::vector<double> ticks(int about) const {
    std::vector<double> all;
    double const step = step_of(about);
    for (double k = std::ceil(shown_.low / step); k * step <= shown_.high; ++k) all.push_back(k * step);
    return all;
  }
  /// The label of a tick, with as many digits as distinguish it from the next.
  std::string label(double tick, int about) const {
    double const step = step_of(about), magnitude = std::max(std::abs(shown_.low), std::abs(shown_.high));
    if (std::abs(tick) < step / 2) return "0";
    int const place = static_cast<int>(std::floor(std::log10(step) + 1e-9));
    if (magnitude < 1e6 && step >= 0.99e-5) return writing::fixed(tick, std::max(0, -place));
    return writing::scientific(
        tick, std::max(1, static_cast<int>(std::floor(std::log10(magnitude))) - place + 1));
  }

private:
  double step_of(int about) const {
    double const rough = shown_.length() / about;
    double const power = std::pow(10.0, std::floor(std::log10(rough)));
    double const part = rough / power;
    return power * (part < 1.5 ? 1 : part < 3 ? 2 : part < 7 ? 5 : 10);
  }

  interval shown_;
  double from_, to_;
};

} // namespace overdub::report
