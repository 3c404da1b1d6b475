#include <overdub/implementation/report/figure.hpp>
#include <overdub/report/bars.hpp>

#include <algorithm>
#include <cstddef>
#include <string>

namespace overdub::report {

std::string bars::html() const {
  using namespace writing;
  double maximum = 0;
  for (row const& r : rows) {
    if (r.values.size() != ways.size())
      throw report_error(message(
          "overdub: the row \"%.60s\" of the bars \"%.60s\" has %zu values for %zu ways", r.name.c_str(),
          title.c_str(), r.values.size(), ways.size()));
    for (double const v : r.values)
      if (drawable(v)) maximum = std::max(maximum, v);
  }
  constexpr double bar = 18, step = 21;
  std::size_t const count = std::min<std::size_t>(rows.size(), 60);
  double const group = 24 + step * static_cast<double>(ways.size()) + 14;
  figure f(width, 2 + group * static_cast<double>(count), title);
  if (count == 0 || ways.empty()) {
    f.say("There are no measurements.");
    return f.html();
  }
  scale const x({0, maximum}, 4, f.width() - 4 - (width == share::quarter ? 100 : 180));
  for (std::size_t i = 0; i < count; ++i) {
    row const& r = rows[i];
    double y = 2 + group * static_cast<double>(i);
    f.text("row-name", {4, y + 14}, shortened(r.name, static_cast<std::size_t>(f.width() / 7.5)));
    y += 24;
    for (std::size_t k = 0; k < ways.size(); ++k, y += step) {
      double const value = r.values[k], end = drawable(value) && value > 0 ? x(value) : x.from();
      std::string said = number(value) + " " + unit;
      if (k > 0 && drawable(r.values[0]) && drawable(value) && r.values[0] > 0 && value > 0)
        said += value <= r.values[0] ? "   " + number(r.values[0] / value, 2) + " times less"
                                     : "   " + number(value / r.values[0], 2) + " times more";
      f.open_group(ways[k] + ": " + said);
      f.rectangle(colour(k) + " bars", {x.from(), y}, std::max(end - x.from(), 1.5), bar, 2);
      f.text("value", {std::max(end, x.from() + 1.5) + 8, y + 13}, said);
      f.close_group();
    }
  }
  for (std::size_t k = 0; k < ways.size(); ++k) f.key(colour(k) + " of-bar", ways[k]);
  f.note(note);
  if (rows.size() > count)
    f.note("Of " + counted(rows.size(), "row") + ", the first " + std::to_string(count) + " are drawn.");
  return f.html();
}

} // namespace overdub::report
