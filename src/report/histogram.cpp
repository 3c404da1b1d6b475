#include <overdub/implementation/report/histogram.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace overdub::report::writing {

histogram histogram_of(std::vector<double> const& sorted) {
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

} // namespace overdub::report::writing
