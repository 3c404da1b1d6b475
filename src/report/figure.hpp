// A figure: a picture as inline SVG, with a title above and notes below.
#pragma once

#include <overdub/implementation/report/scale.hpp>
#include <overdub/report/share.hpp>
#include <overdub/report/text.hpp>

#include <cstddef>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace overdub::report {

namespace writing {

inline double pixels(share s) { return s == share::quarter ? 208 : s == share::half ? 436 : 900; }
std::string_view class_of(share s);

/// One of six colours, the classes c0 to c5 of the page's style, in rotation.
std::string colour(std::size_t i);

struct point {
  double x, y;
};

/// Appends a number of pixels, to tenths.
void append(std::string& out, double pixels);

/// Reduces points of a line to at most `limit`, with the same appearance: the lowest and the highest point of each bucket of successive
/// points.
std::vector<point> thinned(std::vector<point> points, std::size_t limit);

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
  void note(std::string_view sentence);
  /// An entry of the legend.
  void key(std::string_view classes, std::string_view name);
  /// Adds a note if n of the elements were left out since they are not finite.
  void note_left_out(std::size_t n, std::size_t of, std::string_view what);

  void line(std::string_view classes, point a, point b);
  void rectangle(std::string_view classes, point corner, double width, double height, double radius = 0);
  void text(std::string_view classes, point at, std::string_view text);
  /// A line through points.
  void curve(std::string_view classes, std::span<point const> points, bool closed = false);
  /// Dots at points: lines of no length, whose ends are round.
  void dots(std::string_view classes, std::span<point const> points);
  /// A path of SVG commands.
  void path(std::string_view classes, std::string_view steps);
  /// Elements until `close_group` have a title, which browsers show as a tooltip.
  void open_group(std::string_view title) { svg_ += "<g><title>" + escaped(title) + "</title>"; }
  void close_group() { svg_ += "</g>\n"; }

  static void step(std::string& steps, char letter, point p);

  /// The figure in HTML; without a picture if nothing was drawn.
  std::string html() const;

private:
  void open(std::string_view element, std::string_view classes);
  void attributes(std::initializer_list<std::pair<std::string_view, double>> all);

  std::string classes_, title_, above_, keys_, svg_, below_;
  double width_, height_;
};

/// The length of the longest label of an axis, in characters.
std::size_t longest_label(scale const& s, int about);

/// The width of a character of an axis label, in pixels.
inline constexpr double letter_width = 7.2;

/// Draws about `about` ticks and their labels below a plot that ends at `bottom`, or as many as fit, and `name` below them.
void draw_x_axis(figure& f, scale const& x, double top, double bottom, std::string_view name, int about);
/// Draws ticks and their labels at the left of a plot.
void draw_y_axis(figure& f, scale const& y, double left, double right, std::string_view name, int about);
/// The width of the labels at the left of a plot, in pixels.
double left_margin(interval shown, int about);

} // namespace writing
} // namespace overdub::report
