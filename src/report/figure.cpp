#include <overdub/implementation/report/figure.hpp>

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace overdub::report::writing {

std::string_view class_of(share s) {
  return s == share::quarter ? "quarter" : s == share::half ? "half" : "whole";
}

std::string colour(std::size_t i) { return "c" + std::to_string(i % 6); }

void append(std::string& out, double pixels) {
  std::string text = fixed(pixels, 1);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  out += text;
}

std::vector<point> thinned(std::vector<point> points, std::size_t limit) {
  if (points.size() <= limit) return points;
  std::size_t const buckets = std::max<std::size_t>(limit / 2, 1);
  std::vector<point> kept;
  for (std::size_t b = 0; b < buckets; ++b) {
    std::size_t const begin = points.size() * b / buckets, end = points.size() * (b + 1) / buckets;
    std::size_t low = begin, high = begin;
    for (std::size_t i = begin; i < end; ++i) {
      if (points[i].y < points[low].y) low = i;
      if (points[i].y > points[high].y) high = i;
    }
    kept.push_back(points[std::min(low, high)]);
    if (low != high) kept.push_back(points[std::max(low, high)]);
  }
  return kept;
}

void figure::note(std::string_view sentence) {
  if (!sentence.empty()) below_ += "<p class=\"note\">" + escaped(sentence) + "</p>";
}

void figure::key(std::string_view classes, std::string_view name) {
  keys_ += "<span class=\"key " + std::string(classes) + "\"><i></i>" + escaped(name) + "</span> ";
}

void figure::note_left_out(std::size_t n, std::size_t of, std::string_view what) {
  if (n > 0)
    note(
        std::to_string(n) + " of " + counted(of, what) + (n == 1 ? " is" : " are") +
        " not finite, or beyond 1e300, and left out.");
}

void figure::line(std::string_view classes, point a, point b) {
  open("line", classes);
  attributes({{"x1", a.x}, {"y1", a.y}, {"x2", b.x}, {"y2", b.y}});
  svg_ += "/>\n";
}

void figure::rectangle(std::string_view classes, point corner, double width, double height, double radius) {
  open("rect", classes);
  attributes({{"x", corner.x}, {"y", corner.y}, {"width", width}, {"height", height}});
  if (radius > 0) attributes({{"rx", radius}});
  svg_ += "/>\n";
}

void figure::text(std::string_view classes, point at, std::string_view text) {
  open("text", classes);
  attributes({{"x", at.x}, {"y", at.y}});
  svg_ += ">" + escaped(text) + "</text>\n";
}

void figure::curve(std::string_view classes, std::span<point const> points, bool closed) {
  std::string steps;
  for (point const& p : points) step(steps, steps.empty() ? 'M' : 'L', p);
  if (points.size() == 1) steps += "h0"; // a dot, as ends are round
  path(classes, closed ? steps + "Z" : steps);
}

void figure::dots(std::string_view classes, std::span<point const> points) {
  std::string steps;
  for (point const& p : points) {
    step(steps, 'M', p);
    steps += "h0";
  }
  path(classes, steps);
}

void figure::path(std::string_view classes, std::string_view steps) {
  if (steps.empty()) return;
  open("path", classes);
  svg_ += " d=\"";
  svg_ += steps;
  svg_ += "\"/>\n";
}

void figure::step(std::string& steps, char letter, point p) {
  steps += letter;
  append(steps, p.x);
  steps += ' ';
  append(steps, p.y);
}

std::string figure::html() const {
  std::string out =
      "<figure class=\"" + classes_ + "\"><figcaption>" + escaped(title_) + "</figcaption>" + above_;
  if (!keys_.empty()) out += "<p class=\"keys\">" + keys_ + "</p>";
  if (!svg_.empty()) {
    std::string w, h;
    append(w, width_);
    append(h, height_);
    out += "\n<div class=\"picture\"><svg role=\"img\" viewBox=\"0 0 " + w + " " + h + "\" width=\"" + w +
           "\" height=\"" + h + "\"><title>" + escaped(title_) + "</title>\n" + svg_ + "</svg></div>";
  }
  return out + below_ + "</figure>\n";
}

void figure::open(std::string_view element, std::string_view classes) {
  svg_ += '<';
  svg_ += element;
  svg_ += " class=\"";
  svg_ += classes;
  svg_ += '"';
}

void figure::attributes(std::initializer_list<std::pair<std::string_view, double>> all) {
  for (auto const& [name, pixels] : all) {
    svg_ += ' ';
    svg_ += name;
    svg_ += "=\"";
    append(svg_, pixels);
    svg_ += '"';
  }
}

std::size_t longest_label(scale const& s, int about) {
  std::size_t longest = 1;
  for (double const tick : s.ticks(about)) longest = std::max(longest, length(s.label(tick, about)));
  return longest;
}

void draw_x_axis(figure& f, scale const& x, double top, double bottom, std::string_view name, int about) {
  auto const length_of_labels = [&] {
    return letter_width * static_cast<double>(x.ticks(about).size() * (longest_label(x, about) + 2));
  };
  while (about > 1 && length_of_labels() > x.to() - x.from()) --about;
  for (double const tick : x.ticks(about)) {
    f.line("grid", {x(tick), top}, {x(tick), bottom});
    std::string const label = x.label(tick, about);
    double const half = letter_width / 2 * static_cast<double>(length(label));
    if (x(tick) >= half && x(tick) + half <= f.width()) f.text("tick middle", {x(tick), bottom + 16}, label);
  }
  f.line("axis", {x.from(), bottom}, {x.to(), bottom});
  if (!name.empty()) f.text("name middle", {(x.from() + x.to()) / 2, bottom + 33}, name);
}

void draw_y_axis(figure& f, scale const& y, double left, double right, std::string_view name, int about) {
  for (double const tick : y.ticks(about)) {
    f.line("grid", {left, y(tick)}, {right, y(tick)});
    f.text("tick end", {left - 7, y(tick) + 4}, y.label(tick, about));
  }
  if (!name.empty()) f.text("name", {2, y.to() - 9}, name);
}

double left_margin(interval shown, int about) {
  return 14 + letter_width * static_cast<double>(longest_label(scale(shown, 0, 1), about));
}

} // namespace overdub::report::writing
