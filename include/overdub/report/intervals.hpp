// intervals: an interval plot (forest plot) of several quantities.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/report/share.hpp>

#include <limits>
#include <string>
#include <vector>

namespace overdub::report {

/// Intervals, each a line from low to high with a dot at `middle`, and a ring at `observed` if that is finite. A row whose numbers are not
/// finite has the text "not defined" instead. At most 200 rows are drawn. Time: O(rows).
struct intervals {
  struct row {
    std::string name;
    double low, middle, high;
    double observed = std::numeric_limits<double>::quiet_NaN();
  };

  std::string title;
  std::string x = {}; ///< the axis's name
  std::vector<row> rows = {};
  share width = share::half;
  std::string middle = "median, 5 % to 95 %", observed = "observed"; ///< the legend

  std::string html() const;
};

} // namespace overdub::report
