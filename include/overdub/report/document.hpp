// document: a report, a page of sections in one file.
#pragma once

#include <overdub/core/library.hpp>

#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace overdub::report {

/// A block of a section: `b.html()` returns an HTML element, in which all text is `escaped`.
template <class B>
concept block = requires(B const& b) {
  { b.html() } -> std::convertible_to<std::string>;
};

/// A heading with sentences and blocks. A block is rendered when it is added; no reference to it is kept.
class section {
public:
  explicit section(std::string heading) : heading_(std::move(heading)) {}

  std::string const& heading() const { return heading_; }
  /// A paragraph.
  section& say(std::string_view sentences);
  /// Appends a block. If its `html` throws, the section is unchanged.
  template <block B>
  section& add(B const& b) {
    blocks_ += b.html();
    return *this;
  }
  /// The HTML of the section, whose element has this id.
  std::string html(std::string_view id) const;

private:
  std::string heading_, blocks_;
};

/// A page with a title, a lead sentence, and sections, with links to them if there are several. It has no script, and its content security
/// policy forbids the browser to fetch anything. It has no date: equal blocks make equal pages.
class document {
public:
  explicit document(std::string title, std::string lead = {})
      : title_(std::move(title)), lead_(std::move(lead)) {}

  document& add(section s) {
    sections_.push_back(std::move(s));
    return *this;
  }

  std::string html() const;

  /// Writes the page, and replaces an existing file when all of it is written. Throws report_error when it cannot; then an existing file is
  /// unchanged.
  void write(std::string const& path) const;

private:
  static std::string id(std::size_t i) { return "section-" + std::to_string(i + 1); }

  std::string title_, lead_;
  std::vector<section> sections_;
};

} // namespace overdub::report
