// Traces as an SVG image: time goes to the right, calls are below their callers. The file is written at once.
#pragma once

#include <overdub/contexts/trace/writer.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace overdub::contexts::tracing {

/// Memory: the spans. Spans narrower than a fifth of a pixel are not drawn.
class svg_writer final : public trace_writer {
public:
  void thread(traced_thread const& t) override {
    threads_.resize(t.number + 1);
    threads_[t.number].name = t.name;
  }
  void begin(
      std::uint32_t thread, std::uint64_t time, callee_info const& callee, std::span<record const>) override {
    thread_spans& t = threads_[thread];
    t.spans.push_back({callee.name, time, time, t.open.size(), false});
    t.open.push_back(t.spans.size() - 1);
    t.depth = std::max(t.depth, t.open.size());
    add(time);
  }
  void end(std::uint32_t thread, std::uint64_t time, bool failed, record const*) override {
    thread_spans& t = threads_[thread];
    t.spans[t.open.back()].end = time;
    t.spans[t.open.back()].failed = failed;
    t.open.pop_back();
    add(time);
  }
  void lost(std::uint32_t thread, std::uint64_t, std::uint64_t records) override {
    threads_[thread].lost += records;
  }

  void finish() override {
    std::size_t rows = 0;
    for (thread_spans const& t : threads_) rows += t.depth + 1;
    text_ = "<svg xmlns=\"http://www.w3.org/2000/svg\" font-family=\"sans-serif\" font-size=\"11\" width=\"";
    append_number(text_, width);
    text_ += "\" height=\"";
    append_number(text_, rows * row + margin);
    text_ += "\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
    std::size_t top = 0;
    for (thread_spans& t : threads_) {
      for (std::size_t const i : t.open) t.spans[i].end = last_; // its end is unknown
      write_text(
          margin, (top + 1) * row - 5, name_with_losses(t.name, t.lost) + ", " + duration(last_ - first_));
      for (one_span const& s : t.spans) draw(s, top + 1);
      top += t.depth + 1;
    }
    text_ += "</svg>\n";
  }

private:
  struct one_span {
    std::string_view name;
    std::uint64_t begin, end;
    std::size_t depth;
    bool failed;
  };
  struct thread_spans {
    std::string name;
    std::vector<one_span> spans;
    std::vector<std::size_t> open;
    std::size_t depth = 0;
    std::uint64_t lost = 0;
  };
  static constexpr std::size_t width = 1000, row = 18, margin = 8; // pixels

  void add(std::uint64_t time) {
    if (first_ > last_) first_ = time;
    first_ = std::min(first_, time);
    last_ = std::max(last_, time);
  }
  double place(std::uint64_t time) const {
    double const all = std::max(1.0, static_cast<double>(last_ - first_));
    return margin + static_cast<double>(time - first_) / all * (width - 2 * margin);
  }

  void draw(one_span const& s, std::size_t top) {
    double const left = place(s.begin), size = place(s.end) - left;
    if (size < 0.2) return;
    std::size_t const y = (top + s.depth) * row;
    text_ += "<g><title>";
    overdub::detail::append_xml(text_, s.name);
    text_ += s.failed ? ", failed after " : ", ";
    text_ += duration(s.end - s.begin);
    text_ += "</title><rect x=\"";
    append_tenths(left);
    text_ += "\" y=\"";
    append_number(text_, y);
    text_ += "\" width=\"";
    append_tenths(size);
    text_ += "\" height=\"";
    append_number(text_, row - 1);
    text_ += "\" fill=\"hsl(";
    append_number(text_, hue(s.name));
    text_ += s.failed ? ",20%,60%)\"/>" : ",60%,78%)\"/>";
    // A letter is about six pixels wide.
    auto const letters = static_cast<std::size_t>(size / 6.5);
    if (letters >= 3) write_text(left + 3, y + 13, overdub::detail::first_characters(s.name, letters));
    text_ += "</g>\n";
  }
  void write_text(double x, std::size_t y, std::string_view text) {
    text_ += "<text x=\"";
    append_tenths(x);
    text_ += "\" y=\"";
    append_number(text_, y);
    text_ += "\">";
    overdub::detail::append_xml(text_, text);
    text_ += "</text>";
  }

  void append_tenths(double x) {
    auto const tenths = static_cast<std::uint64_t>(x * 10 + 0.5);
    append_number(text_, tenths / 10);
    text_ += '.';
    append_number(text_, tenths % 10);
  }
  // A name has the same colour in all images.
  static unsigned hue(std::string_view name) {
    unsigned hash = 0;
    for (char const c : name) hash = hash * 31 + static_cast<unsigned char>(c);
    return (hash * 2654435761u >> 16) % 360;
  }
  static std::string duration(std::uint64_t nanoseconds) {
    std::string text;
    char const* unit = " ns";
    std::uint64_t scale = 1;
    for (char const* const larger : {" us", " ms", " s"}) {
      if (nanoseconds / scale < 10'000) break;
      unit = larger;
      scale *= 1000;
    }
    append_number(text, nanoseconds / scale);
    return text + unit;
  }

  std::uint64_t first_ = 1, last_ = 0;
  std::vector<thread_spans> threads_;
};

} // namespace overdub::contexts::tracing
