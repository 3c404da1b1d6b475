#include <overdub/implementation/report/figure.hpp>
#include <overdub/report/listing.hpp>

#include <algorithm>
#include <string>
#include <string_view>

namespace overdub::report {

std::string listing::html() const {
  std::string out = "<figure class=\"" + std::string(writing::class_of(width)) + "\"><figcaption>" +
                    escaped(title) + "</figcaption><pre>";
  std::string_view left = text;
  while (!left.empty()) { // `escaped` replaces line breaks by spaces
    auto const end = std::min(left.find('\n'), left.size());
    out += escaped(left.substr(0, end)) + '\n';
    left.remove_prefix(std::min(end + 1, left.size()));
  }
  out += "</pre>";
  if (!note.empty()) out += "<p class=\"note\">" + escaped(note) + "</p>";
  return out + "</figure>\n";
}

} // namespace overdub::report
