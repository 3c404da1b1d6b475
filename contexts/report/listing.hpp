// listing: text as it is written: source code, what a program printed.
#pragma once

#include <overdub/contexts/report/figure.hpp>

#include <algorithm>
#include <string>
#include <string_view>

namespace overdub::report {

/// Text in letters of one width, with its lines and spaces. Lines that are too long are scrolled.
struct listing {
  std::string title, text;
  share width = share::whole;
  std::string note = {};

  /// Takes time proportional to the text.
  std::string html() const {
    std::string out = "<figure class=\"" + std::string(writing::class_of(width)) + "\"><figcaption>" +
                      escaped(title) + "</figcaption><pre>";
    std::string_view left = text;
    while (!left.empty()) { // `escaped` makes spaces of line ends
      auto const end = std::min(left.find('\n'), left.size());
      out += escaped(left.substr(0, end)) + '\n';
      left.remove_prefix(std::min(end + 1, left.size()));
    }
    out += "</pre>";
    if (!note.empty()) out += "<p class=\"note\">" + escaped(note) + "</p>";
    return out + "</figure>\n";
  }
};

} // namespace overdub::report
