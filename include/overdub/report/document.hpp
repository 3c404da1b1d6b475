// document: a report, a page of sections in one file.
#pragma once

#include <overdub/io/output_file.hpp>
#include <overdub/report/style.hpp>
#include <overdub/report/text.hpp>

#include <concepts>
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
  section& say(std::string_view sentences) {
    blocks_ += "<p>" + escaped(sentences) + "</p>\n";
    return *this;
  }
  /// Appends a block. If its `html` throws, the section is unchanged.
  template <block B>
  section& add(B const& b) {
    blocks_ += b.html();
    return *this;
  }
  /// The HTML of the section, whose element has this id.
  std::string html(std::string_view id) const {
    return "<section id=\"" + escaped(id) + "\">\n<h2>" + escaped(heading_) +
           "</h2>\n<div class=\"blocks\">\n" + blocks_ + "</div>\n</section>\n";
  }

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

  std::string html() const {
    std::string const title = escaped(title_);
    std::string page = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                       "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
                       "'unsafe-inline'\">\n"
                       "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>" +
                       title + "</title>\n<style>";
    page += writing::style;
    page += "</style>\n</head>\n<body>\n<header>\n<h1>" + title + "</h1>\n";
    if (!lead_.empty()) page += "<p class=\"lead\">" + escaped(lead_) + "</p>\n";
    if (sections_.size() > 1) {
      page += "<nav>";
      for (std::size_t i = 0; i < sections_.size(); ++i)
        page += "<a href=\"#" + id(i) + "\">" + escaped(sections_[i].heading()) + "</a>";
      page += "</nav>\n";
    }
    page += "</header>\n<main>\n";
    for (std::size_t i = 0; i < sections_.size(); ++i) page += sections_[i].html(id(i));
    return page + "</main>\n</body>\n</html>\n";
  }

  /// Writes the page, and replaces an existing file when all of it is written. Throws report_error when it cannot; then an existing file is
  /// unchanged.
  void write(std::string const& path) const {
    std::string const page = html();
    try {
      io::output_file file(path, io::writing::at_once);
      file.append(page);
      file.commit();
    } catch (io::output_error const& e) {
      throw report_error(
          message("overdub: the report cannot be written to %s: %s", io::shown_path(path).c_str(), e.what()));
    }
  }

private:
  static std::string id(std::size_t i) { return "section-" + std::to_string(i + 1); }

  std::string title_, lead_;
  std::vector<section> sections_;
};

} // namespace overdub::report
