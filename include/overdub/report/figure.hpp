// A figure: a picture as inline SVG, with a title above and notes below.
#pragma once

#include <overdub/report/scale.hpp>
#include <overdub/report/text.hpp>

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace overdub::report {

/// The fraction of the page's width that a figure has.
enum class share { quarter, half, whole };

namespace writing {

inline double pixels(share s) { return s == share::quarter ? 208 : s == share::half ? 436 : 900; }
inline std::string_view class_of(share s) {
  return s == share::quarter ? "quarter" : s == share::half ? "half" : "whole";
}

/// One of six colours, the classes c0 to c5 of the page's style, in rotation.
inline std::string colour(std::size_t i) { return "c" + std::to_string(i % 6); }

struct point {
  double x, y;
};

/// Appends a number of pixels, to tenths.
inline void append(std::string& out, double pixels) {
  std::string text = fixed(pixels, 1);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  out += text;
}

/// Reduces points of a line to at most `limit`, with the same appearance: the lowest and the highest point of each bucket of successive
/// points.
inline std::vector<point> thinned(std::vector<point> points, std::size_t limit) {
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

/// A figure, built element by element. Classes are those of the page's style.
class figure {
public:
  figure(share s, double height, std::string_view title) : figure(class_of(s), pixels(s), height, title) {}
  /// With these classes, and a width in pixels.
  figure(std::string_view classes, double width, double height, std::string_view title)
      : classes_(classes), title_(title), width_(width), height_(height) {}

  double width() const { return width_; }
  double height() const { return height_; }

  /// A sentence above the picture.
  void say(std::string_view sentence) { above_ += "<p>" + escaped(sentence) + "</p>"; }
  /// A sentence below it.
  void note(std::string_view sentence) {
    if (!sentence.empty()) below_ += "<p class=\"note\">" + escaped(sentence) + "</p>";
  }
  /// An entry of the legend.
  void key(std::string_view classes, std::string_view name) {
    keys_ += "<span class=\"key " + std::string(classes) + "\"><i></i>" + escaped(name) + "</span> ";
  }
  /// Adds a note if n of the elements were left out since they are not finite.
  void note_left_out(std::size_t n, std::size_t of, std::string_view what) {
    if (n > 0)
      note(
          std::to_string(n) + " of " + counted(of, what) + (n == 1 ? " is" : " are") +
          " not finite, or beyond 1e300, and left out.");
  }

  void line(std::string_view classes, point a, point b) {
    open("line", classes);
    attributes({{"x1", a.x}, {"y1", a.y}, {"x2", b.x}, {"y2", b.y}});
    svg_ += "/>\n";
  }
  void rectangle(std::string_view classes, point corner, double width, double height, double radius = 0) {
    open("rect", classes);
    attributes({{"x", corner.x}, {"y", corner.y}, {"width", width}, {"height", height}});
    if (radius > 0) attributes({{"rx", radius}});
    svg_ += "/>\n";
  }
  void text(std::string_view classes, point at, std::string_view text) {
    open("text", classes);
    attributes({{"x", at.x}, {"y", at.y}});
    svg_ += ">" + escaped(text) + "</text>\n";
  }
  /// A line through points.
  void curve(std::string_view classes, std::span<point const> points, bool closed = false) {
    std::string steps;
    for (point const& p : points) step(steps, steps.empty() ? 'M' : 'L', p);
    if (points.size() == 1) steps += "h0"; // a dot, as ends are round
    path(classes, closed ? steps + "Z" : steps);
  }
  /// Dots at points: lines of no length, whose ends are round.
  void dots(std::string_view classes, std::span<point const> points) {
    std::string steps;
    for (point const& p : points) {
      step(steps, 'M', p);
      steps += "h0";
    }
    path(classes, steps);
  }
  /// A path of SVG commands.
  void path(std::string_view classes, std::string_view steps) {
    if (steps.empty()) return;
    open("path", classes);
    svg_ += " d=\"";
    svg_ += steps;
    svg_ += "\"/>\n";
  }
  /// Elements until `close_group` have a title, which browsers show as a tooltip.
  void open_group(std::string_view title) { svg_ += "<g><title>" + escaped(title) + "</title>"; }
  void close_group() { svg_ += "</g>\n"; }

  static void step(std::string& steps, char letter, point p) {
    steps += letter;
    append(steps, p.x);
    steps += ' ';
    append(steps, p.y);
  }

  /// The figure in HTML; without a picture if nothing was drawn.
  std::string html() const {
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

private:
  void open(std::string_view element, std::string_view classes) {
    svg_ += '<';
    svg_ += element;
    svg_ += " class=\"";
    svg_ += classes;
    svg_ += '"';
  }
  void attributes(std::initializer_list<std::pair<std::string_view, double>> all) {
    for (auto const& [name, pixels] : all) {
      svg_ += ' ';
      svg_ += name;
      svg_ += "=\"";
      append(svg_, pixels);
      svg_ += '"';
    }
  }

  std::string classes_, title_, above_, keys_, svg_, below_;
  double width_, height_;
};

/// The length of the longest label of an axis, in characters.
inline std::size_t longest_label(scale const& s, int about) {
  std::size_t longest = 1;
  for (double const tick : s.ticks(about)) longest = std::max(longest, length(s.label(tick, about)));
  return longest;
}

/// The width of a character of an axis label, in pixels.
inline constexpr double letter_width = 7.2;

/// Draws about `about` ticks and their labels below a plot that ends at `bottom`, or as many as fit, and `name` below them.
inline void
draw_x_axis(figure& f, scale const& x, double top, double bottom, std::string_view name, int about) {
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
/// Draws ticks and their labels at the left of a plot.
inline void
draw_y_axis(figure& f, scale const& y, double left, double right, std::string_view name, int about) {
  for (double const tick : y.ticks(about)) {
    f.line("grid", {left, y(tick)}, {right, y(tick)});
    f.text("tick end", {left - 7, y(tick) + 4}, y.label(tick, about));
  }
  if (!name.empty()) f.text("name", {2, y.to() - 9}, name);
}
/// The width of the labels at the left of a plot, in pixels.
inline double left_margin(interval shown, int about) {
  return 14 + letter_width * static_cast<double>(longest_label(scale(shown, 0, 1), about));
}

} // namespace writing
} // namespace overdub::report
