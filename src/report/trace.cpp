#include <overdub/implementation/report/figure.hpp>
#include <overdub/report/trace.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace overdub::report {

std::string trace::html() const {
  using namespace writing;
  figure f(width, 200, title);
  std::size_t const chains = std::min<std::size_t>(draws.chains, 16);
  std::size_t const all = chains * draws.length();
  interval const shown = range_of({draws.values.data(), all});
  if (shown.empty()) {
    f.say(all == 0 ? "There are no draws." : "None of the draws is finite: nothing can be drawn.");
    return f.html();
  }
  interval const ys = padded(widened(shown), 0.04);
  double const bottom = f.height() - 42;
  scale const y(ys, bottom, 8);
  scale const x(
      {1, static_cast<double>(std::max<std::size_t>(draws.length(), 5))}, left_margin(ys, 4), f.width() - 20);
  draw_x_axis(f, x, y.to(), bottom, "draw", width == share::quarter ? 2 : 5);
  draw_y_axis(f, y, x.from(), x.to(), "", 4);
  std::size_t left_out = 0;
  for (std::size_t c = 0; c < chains; ++c) {
    auto const values = draws.chain(c);
    std::vector<point> points;
    for (std::size_t i = 0; i < values.size(); ++i)
      if (drawable(values[i]))
        points.push_back({x(static_cast<double>(i + 1)), y(values[i])});
      else
        ++left_out;
    std::string const name = "chain " + std::to_string(c + 1);
    f.open_group(name);
    f.curve(colour(c) + " line fine", thinned(std::move(points), std::min<std::size_t>(800, 2400 / chains)));
    f.close_group();
    if (chains > 1 && chains <= 6) f.key(colour(c) + " of-line", name);
  }
  f.note_left_out(left_out, all, "draw");
  if (draws.chains > chains)
    f.note("Of " + counted(draws.chains, "chain") + ", the first " + std::to_string(chains) + " are drawn.");
  return f.html();
}

} // namespace overdub::report
