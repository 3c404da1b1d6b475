// diagnostics: the part of a report with the summary of draws and its warnings.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/inference/summary.hpp>

#include <string>

namespace overdub::report {

/// A table of the estimates of an `inference::summary` with their Monte Carlo standard errors. The warnings follow the table; if there are
/// none, a sentence says so.
struct diagnostics {
  std::string title;
  inference::summary summary;

  std::string html() const;
};

} // namespace overdub::report
