#include <overdub/implementation/report/figure.hpp>
#include <overdub/implementation/report/histogram.hpp>
#include <overdub/report/posterior.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

namespace overdub::report {
namespace {

// Definition 7 of Hyndman and Fan 1996, as in inference/diagnostics.hpp, which needs Boost.Math.
double quantile(std::vector<double> const& sorted, double p) {
  double const place = p * static_cast<double>(sorted.size() - 1);
  auto const below = static_cast<std::size_t>(place);
  std::size_t const above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

void draw_histogram(writing::figure& f, std::vector<double> const& sorted) {
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

} // namespace

std::string posterior::html() const {
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
    draw_histogram(f, sorted);
  f.note_left_out(left_out, draws.values.size(), "draw");
  return f.html();
}

} // namespace overdub::report
