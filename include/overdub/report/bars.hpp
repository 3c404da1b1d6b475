// bars: a bar chart that compares measurements of several methods, as the times of full re-execution and of incremental recomputation.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/report/share.hpp>

#include <string>
#include <vector>

namespace overdub::report {

/// Bars from 0, one group for each row. Each bar has its number, and, except the first of a row, its ratio to the first: "12 times less".
/// Values that are negative or not finite have a number without a bar. At most 60 rows are drawn. Time: O(numbers).
struct bars {
  struct row {
    std::string name;
    std::vector<double> values; ///< one for each of `ways`
  };

  std::string title, unit = {};
  std::vector<std::string> ways = {};
  std::vector<row> rows = {};
  share width = share::whole;
  std::string note = {};

  /// Throws report_error for a row that has not one value for each way.
  std::string html() const;
};

} // namespace overdub::report
