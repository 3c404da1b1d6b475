#include <overdub/implementation/report/style.hpp>
#include <overdub/io/output_file.hpp>
#include <overdub/report/document.hpp>
#include <overdub/report/text.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace overdub::report {

section& section::say(std::string_view sentences) {
  blocks_ += "<p>" + escaped(sentences) + "</p>\n";
  return *this;
}

std::string section::html(std::string_view id) const {
  return "<section id=\"" + escaped(id) + "\">\n<h2>" + escaped(heading_) +
         "</h2>\n<div class=\"blocks\">\n" + blocks_ + "</div>\n</section>\n";
}

std::string document::html() const {
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

void document::write(std::string const& path) const {
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

} // namespace overdub::report
