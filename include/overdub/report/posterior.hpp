// posterior: a histogram of the draws of a variable.
#pragma once

#include <overdub/inference/draws.hpp>
#include <overdub/report/figure.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace overdub::report {

namespace writing {

/// Counts of numbers in bins of equal width. `gap` is the margin at both ends of a drawn bin, as a fraction of its width.
struct histogram {
  double first = 0, bin = 1, gap = 0;
  std::vector<std::size_t> counts;
  std::size_t below = 0, above = 0; ///< beyond the bins

  double edge(std::size_t i) const { return first + static_cast<double>(i) * bin; }
};

/// The histogram of sorted numbers, which are not all equal. Integers of a range of at most 40 have a bin each. Otherwise the width is by
/// the rule of D. Freedman and P. Diaconis ("On the histogram as a density estimator", Zeitschrift für Wahrscheinlichkeitstheorie und
/// verwandte Gebiete 57, 1981), twice the interquartile range divided by the cube root of the count, with 12 to 60 bins. The range is
/// limited to the central 90 % interval extended by twice its length, lest outliers hide the rest.
inline histogram histogram_of(std::vector<double> const& sorted) {
  auto const quantile = [&](double p) {
    return sorted[static_cast<std::size_t>(p * static_cast<double>(sorted.size() - 1) + 0.5)];
  };
  histogram h;
  std::size_t bins = 0;
  double last = sorted.back();
  if (last - sorted.front() <= 40 &&
      std::ranges::all_of(sorted, [](double x) { return x == std::floor(x); })) {
    h.first = sorted.front() - 0.5;
    h.gap = 0.1;
    bins = static_cast<std::size_t>(last - sorted.front()) + 1;
  } else {
    double const low = quantile(0.05), high = quantile(0.95), reach = 2 * (high - low);
    h.first = reach > 0 ? std::max(sorted.front(), low - reach) : sorted.front();
    if (reach > 0) last = std::min(last, high + reach);
    interval const shown = widened({h.first, last});
    double const wanted =
        2 * (quantile(0.75) - quantile(0.25)) / std::cbrt(static_cast<double>(sorted.size()));
    double const count = wanted > 0 ? shown.length() / wanted : 60;
    bins = static_cast<std::size_t>(std::clamp(count, 12.0, 60.0));
    h.first = shown.low;
    h.bin = shown.length() / static_cast<double>(bins);
  }
  h.counts.resize(bins);
  for (double const x : sorted) {
    double const place = (x - h.first) / h.bin;
    if (place < -1e-6)
      ++h.below;
    else if (place > static_cast<double>(bins) * (1 + 1e-6))
      ++h.above;
    else
      ++h.counts[std::min(static_cast<std::size_t>(std::max(place, 0.0)), bins - 1)];
  }
  return h;
}

} // namespace writing

/// A histogram of the draws of all chains, with the 5 %, 50 % and 95 % quantiles of `inference::summary`; the central 90 % is darker.
/// Values that are not finite or beyond the axis are left out, and counted in a note. A constant has a sentence instead. O(n log n) in the
/// number of draws.
struct posterior {
  std::string title;
  inference::chain_values draws;
  share width = share::half;

  std::string html() const {
    using namespace writing;
    figure f(width, 200, title);
    std::vector<double> sorted;
    for (double const x : draws.values)
      if (drawable(x)) sorted.push_back(x);
    std::size_t const left_out = draws.values.size() - sorted.size();
    std::ranges::sort(sorted);
    if (sorted.empty())
      f.say(left_out == 0 ? "There are no draws." : "None of the draws is finite: nothing can be drawn.");
    else if (sorted.front() == sorted.back())
      f.say((left_out == 0 ? "All draws are " : "All finite draws are ") + number(sorted.front()) + ".");
    else
      draw(f, sorted);
    f.note_left_out(left_out, draws.values.size(), "draw");
    return f.html();
  }

private:
  // Definition 7 of Hyndman and Fan 1996, as in inference/diagnostics.hpp, which needs Boost.Math.
  static double quantile(std::vector<double> const& sorted, double p) {
    double const place = p * static_cast<double>(sorted.size() - 1);
    auto const below = static_cast<std::size_t>(place);
    std::size_t const above = std::min(below + 1, sorted.size() - 1);
    return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
  }

  static void draw(writing::figure& f, std::vector<double> const& sorted) {
    using namespace writing;
    double const low = quantile(sorted, 0.05), median = quantile(sorted, 0.5), high = quantile(sorted, 0.95);
    auto const said = [&](double x) {
      return number_beside(x, (high - low) / 3);
    }; // about a standard deviation
    f.say("median " + said(median) + ", 5 % to 95 %: " + said(low) + " to " + said(high));
    histogram const h = histogram_of(sorted);
    std::size_t const bins = h.counts.size();
    double const bottom = f.height() - 24;
    interval const shown = {h.first, h.edge(bins)};
    scale const x(padded(shown, 0.02), 10, f.width() - 10);
    scale const y({0, static_cast<double>(std::ranges::max(h.counts))}, bottom, 12);
    draw_x_axis(f, x, y.to(), bottom, "", f.width() < 300 ? 3 : 6);
    std::string tails, centre;
    auto const bar = [&](std::string& steps, double from, double to, std::size_t count) {
      if (count == 0 || !(from < to)) return;
      figure::step(steps, 'M', {x(from), bottom});
      figure::step(steps, 'L', {x(from), y(static_cast<double>(count))});
      figure::step(steps, 'L', {x(to), y(static_cast<double>(count))});
      figure::step(steps, 'L', {x(to), bottom});
      steps += 'Z';
    };
    for (std::size_t i = 0; i < bins; ++i) {
      double const from = h.edge(i) + h.gap * h.bin, to = h.edge(i + 1) - h.gap * h.bin;
      if (h.gap > 0) { // of an integer
        double const value = std::round((from + to) / 2);
        bar(value < low || value > high ? tails : centre, from, to, h.counts[i]);
      } else {
        bar(tails, from, std::min(to, low), h.counts[i]);
        bar(centre, std::max(from, low), std::min(to, high), h.counts[i]);
        bar(tails, std::max(from, high), to, h.counts[i]);
      }
    }
    f.path("c0 tails", tails);
    f.path("c0 bars", centre);
    f.line("quantile", {x(low), y.to()}, {x(low), bottom});
    f.line("quantile", {x(high), y.to()}, {x(high), bottom});
    f.line("median", {x(median), y.to() - 6}, {x(median), bottom});
    if (std::size_t const beyond = h.below + h.above; beyond > 0)
      f.note(
          std::to_string(beyond) + " of " + counted(sorted.size(), "draw") + (beyond == 1 ? " is" : " are") +
          " beyond the axis, from " + number(sorted.front()) + " to " + number(sorted.back()) + ".");
  }
};

} // namespace overdub::report
