#include <overdub/implementation/report/figure.hpp>
#include <overdub/report/intervals.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace overdub::report {
namespace {

bool has_line(intervals::row const& r) {
  return writing::drawable(r.low) && writing::drawable(r.middle) && writing::drawable(r.high);
}

} // namespace

std::string intervals::html() const {
  using namespace writing;
  std::size_t const count = std::min<std::size_t>(rows.size(), 200);
  std::size_t const name_limit = width == share::quarter ? 8 : 24; // in characters
  interval shown;
  std::size_t letters = 1;
  bool any_observed = false;
  for (std::size_t i = 0; i < count; ++i) {
    row const& r = rows[i];
    letters = std::max(letters, std::min(name_limit, length(r.name)));
    if (has_line(r))
      for (double const v : {r.low, r.middle, r.high}) shown.add(v);
    if (drawable(r.observed)) {
      shown.add(r.observed);
      any_observed = true;
    }
  }
  constexpr double row_height = 22;
  double const bottom = 10 + row_height * static_cast<double>(count);
  figure f(width, bottom + (x.empty() ? 26 : 44), title);
  if (count == 0) {
    f.say("There are no rows.");
    return f.html();
  }
  scale const across(padded(widened(shown), 0.04), 14 + 7 * static_cast<double>(letters), f.width() - 20);
  draw_x_axis(f, across, 4, bottom, x, width == share::quarter ? 3 : 6);
  for (std::size_t i = 0; i < count; ++i) {
    row const& r = rows[i];
    double const y = 10 + row_height * (static_cast<double>(i) + 0.5);
    f.open_group(r.name + ": " + number(r.middle) + ", " + number(r.low) + " to " + number(r.high));
    f.text("end", {across.from() - 8, y + 4}, shortened(r.name, name_limit));
    if (has_line(r)) {
      f.line("c0 span", {across(r.low), y}, {across(r.high), y});
      f.dots("c0 middle-dot", std::vector<point>{{across(r.middle), y}});
    } else {
      f.text("tick", {across.from() + 8, y + 4}, "not defined");
    }
    if (drawable(r.observed)) f.rectangle("c1 ring", {across(r.observed) - 4.5, y - 4.5}, 9, 9, 4.5);
    f.close_group();
  }
  if (any_observed) {
    f.key("c0 of-line", middle);
    f.key("c1 of-ring", observed);
  } else {
    f.say(middle);
  }
  if (rows.size() > count)
    f.note("Of " + counted(rows.size(), "row") + ", the first " + std::to_string(count) + " are drawn.");
  return f.html();
}

} // namespace overdub::report
