#include <overdub/implementation/report/figure.hpp>
#include <overdub/report/plot.hpp>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace overdub::report {
namespace {

bool drawn(series const& s, std::size_t i) {
  using writing::drawable;
  return drawable(s.x[i]) && drawable(s.y[i]) && (s.drawn != mark::band || drawable(s.high[i]));
}
char const* key_of(mark m) {
  return m == mark::points ? " of-dots" : m == mark::line ? " of-line" : " of-band";
}
void check(plot const& p, series const& s) {
  if (s.x.size() != s.y.size())
    throw report_error(message(
        "overdub: the series \"%.60s\" of the plot \"%.60s\" has %zu x and %zu y: each point has both",
        s.name.c_str(), p.title.c_str(), s.x.size(), s.y.size()));
  if (s.drawn == mark::band && s.high.size() != s.y.size())
    throw report_error(message(
        "overdub: the band \"%.60s\" of the plot \"%.60s\" has %zu numbers y, where it begins, and %zu "
        "high, where it ends",
        s.name.c_str(), p.title.c_str(), s.y.size(), s.high.size()));
}

// Evenly spaced points of the series.
std::vector<writing::point> some_of(std::vector<writing::point> const& points, std::size_t limit) {
  std::vector<writing::point> kept;
  for (std::size_t k = 0; k < limit; ++k) kept.push_back(points[k * points.size() / limit]);
  return kept;
}

void draw_series(
    writing::figure& f, series const& s, std::string const& colour, scale const& x, scale const& y) {
  using namespace writing;
  constexpr std::size_t limit = 2000;
  std::vector<point> points, highs;
  for (std::size_t i = 0; i < s.x.size(); ++i) {
    if (!drawn(s, i)) continue;
    points.push_back({x(s.x[i]), y(s.y[i])});
    if (s.drawn == mark::band) highs.push_back({x(s.x[i]), y(s.high[i])});
  }
  std::size_t const finite = points.size();
  f.open_group(s.name);
  if (s.drawn == mark::points) {
    if (finite > limit) points = some_of(points, limit);
    f.dots(colour + (finite <= 200 ? " dots few" : " dots"), points);
  } else if (s.drawn == mark::line) {
    f.curve(colour + " line", thinned(std::move(points), limit));
  } else {
    points = thinned(std::move(points), limit);
    highs = thinned(std::move(highs), limit);
    points.insert(points.end(), highs.rbegin(), highs.rend());
    f.curve(colour + " band", points, true);
  }
  f.close_group();
  f.note_left_out(s.x.size() - finite, s.x.size(), "point");
  if (s.drawn == mark::points && finite > limit)
    f.note(std::to_string(limit) + " of " + counted(finite, "point") + " are drawn.");
}

} // namespace

std::string plot::html() const {
  using namespace writing;
  for (report::series const& s : series) check(*this, s);
  interval xs = x_shown, ys = y_shown;
  for (report::series const& s : series)
    for (std::size_t i = 0; i < s.x.size(); ++i) {
      if (!drawn(s, i)) continue;
      if (x_shown.empty()) xs.add(s.x[i]);
      if (!y_shown.empty()) continue;
      ys.add(s.y[i]);
      if (s.drawn == mark::band) ys.add(s.high[i]);
    }
  auto const colour_of = [&](std::size_t i) { return colour(series[i].colour.value_or(i)); };
  figure f(width, width == share::quarter ? 170 : width == share::half ? 260 : 300, title);
  bool const small = width == share::quarter;
  int const about = small ? 3 : 5;
  if (xs.empty() || ys.empty()) {
    std::size_t points = 0;
    for (report::series const& s : series) points += s.x.size();
    f.say(points == 0 ? "There are no points." : "None of the points is finite: nothing can be drawn.");
    return f.html();
  }
  if (y_shown.empty()) ys = padded(widened(ys), 0.05);
  double const left = left_margin(ys, about), bottom = f.height() - (x.empty() ? 24 : 42);
  scale const across(x_shown.empty() ? padded(widened(xs), 0.02) : xs, left, f.width() - 20);
  scale const up(ys, bottom, y.empty() ? 10 : 26);
  draw_x_axis(f, across, up.to(), bottom, x, small ? 3 : width == share::half ? 6 : 10);
  draw_y_axis(f, up, left, across.to(), y, about);
  for (mark const which : {mark::band, mark::line, mark::points})
    for (std::size_t i = 0; i < series.size(); ++i)
      if (series[i].drawn == which) draw_series(f, series[i], colour_of(i), across, up);
  if (series.size() > 1 && !small)
    for (std::size_t i = 0; i < series.size(); ++i)
      f.key(colour_of(i) + key_of(series[i].drawn), series[i].name);
  f.note(note);
  return f.html();
}

} // namespace overdub::report
