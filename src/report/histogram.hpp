// Histograms in the figures of reports, with bins by the rule of Freedman and Diaconis.
#pragma once

#include <overdub/implementation/report/scale.hpp>

#include <cstddef>
#include <vector>

namespace overdub::report {

namespace writing {

/// Counts of numbers in bins of equal width. `gap` is the margin at both ends of a drawn bin, as a fraction of its width.
struct histogram {
  double first = 0, bin = 1, gap = 0;
  std::vector<std::size_t> counts;
  std::size_t below = 0, above = 0; ///< the counts of numbers below and above the bins

  double edge(std::size_t i) const { return first + static_cast<double>(i) * bin; }
};

/// The histogram of sorted numbers, which are not all equal. Integers of a range of at most 40 have a bin each. Otherwise the width is by
/// the rule of D. Freedman and P. Diaconis ("On the histogram as a density estimator", Zeitschrift für Wahrscheinlichkeitstheorie und
/// verwandte Gebiete 57, 1981), twice the interquartile range divided by the cube root of the count, with 12 to 60 bins. The range is
/// limited to the central 90 % interval extended by twice its length, so that outliers do not widen it.
histogram histogram_of(std::vector<double> const& sorted);

} // namespace writing

} // namespace overdub::report
