// posterior: a histogram of the draws of a variable.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/inference/draws.hpp>
#include <overdub/report/share.hpp>

#include <string>

namespace overdub::report {

/// A histogram of the draws of all chains, with the 5 %, 50 % and 95 % quantiles of `inference::summary`; the central 90 % is darker.
/// Values that are not finite or beyond the axis are left out, and counted in a note. A constant has a sentence instead. O(n log n) in the
/// number of draws.
struct posterior {
  std::string title;
  inference::chain_values draws;
  share width = share::half;

  std::string html() const;
};

} // namespace overdub::report
