// table: rows of text.
#pragma once

#include <overdub/core/library.hpp>

#include <string>
#include <vector>

namespace overdub::report {

/// Rows of cells below heads. A column is right-aligned if each of its cells is a number or marks a missing number. At most 500 rows are
/// shown. O(size of the text).
struct table {
  std::string title;
  std::vector<std::string> heads = {};
  std::vector<std::vector<std::string>> rows = {};
  std::string note = {};

  /// Throws report_error unless each row has one cell for each head.
  std::string html() const;
};

} // namespace overdub::report
