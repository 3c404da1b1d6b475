// plot: points, lines and bands over x and y axes.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/report/interval.hpp>
#include <overdub/report/share.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace overdub::report {

/// How a series is drawn.
enum class mark { points, line, band };

/// Numbers x and y. A band is between y and `high`.
struct series {
  std::string name;
  mark drawn = mark::points;
  std::vector<double> x = {}, y = {}, high = {};
  std::optional<std::size_t> colour = {}; ///< one of six; the default is that of its index among the series
};

/// Series in one figure. Points with a number that is not finite are left out, and counted in a note; lines continue across them. Of a
/// series, at most 2000 points are drawn, and a note says so. `x_shown` and `y_shown` are the ranges of the axes; the default is the range
/// of the data.
struct plot {
  std::string title;
  std::string x = {}, y = {}; ///< the names of the axes
  std::vector<report::series> series = {};
  share width = share::half;
  interval x_shown = {}, y_shown = {};
  std::string note = {};

  /// Throws report_error unless each x has a y, and each y of a band a high. O(points).
  std::string html() const;
};

} // namespace overdub::report
