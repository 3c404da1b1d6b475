// trace: a trace plot, the draws of a variable by iteration, one line for each chain.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/inference/draws.hpp>
#include <overdub/report/share.hpp>

#include <string>

namespace overdub::report {

/// The trace plot of a variable. Of a long chain, the minimum and the maximum of successive draws are drawn, so that a figure has some 30
/// kB at most; of more than 16 chains, the first 16. Values that are not finite are left out, and counted in a note. O(draws).
struct trace {
  std::string title;
  inference::chain_values draws;
  share width = share::half;

  std::string html() const;
};

} // namespace overdub::report
