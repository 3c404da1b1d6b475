// Text for output files. Names of threads, callees and labels are arbitrary bytes: invalid UTF-8 becomes U+FFFD, and characters that a
// format cannot represent become spaces. All writers of JSON, SVG, HTML, DOT and folded stacks use this header.
#pragma once

#include <overdub/core/requirements.hpp>

#include <boost/locale/utf.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace overdub::detail {

/// Calls f(code point, its bytes) for each character of a text; an invalid sequence of bytes (including overlong forms and surrogates) is
/// U+FFFD.
template <class F>
void for_each_character(std::string_view text, F const& f) {
  using utf8 = boost::locale::utf::utf_traits<char>;
  for (auto at = text.begin(); at != text.end();) {
    auto const begin = at;
    auto const point = utf8::decode(at, text.end());
    if (boost::locale::utf::is_valid_codepoint(point)) {
      f(std::uint32_t{point}, std::string_view(begin, at));
    } else {
      f(std::uint32_t{0xFFFD}, std::string_view("\xEF\xBF\xBD"));
      at = begin + 1;
      while (at != text.end() && utf8::is_trail(*at)) ++at;
    }
  }
}

/// Whether a code point is a control character, or is not allowed in XML 1.0.
constexpr bool is_control(std::uint32_t point) {
  return point < 0x20 || (point >= 0x7F && point < 0xA0) || point == 0xFFFE || point == 0xFFFF;
}

/// The text as UTF-8, with its control characters.
inline std::string as_utf8(std::string_view text) {
  std::string result;
  for_each_character(text, [&](std::uint32_t, std::string_view bytes) { result += bytes; });
  return result;
}

/// Appends text, escaped for elements and quoted attributes of XML and HTML. Control characters become spaces.
inline void append_xml(std::string& to, std::string_view text) {
  for_each_character(text, [&](std::uint32_t point, std::string_view bytes) {
    switch (point) {
    case '&':
      to += "&amp;";
      break;
    case '<':
      to += "&lt;";
      break;
    case '>':
      to += "&gt;";
      break;
    case '"':
      to += "&quot;";
      break;
    case '\'':
      to += "&#39;";
      break;
    default:
      if (is_control(point))
        to += ' ';
      else
        to += bytes;
    }
  });
}

/// Appends a string of JSON (RFC 8259), with its quotes.
inline void append_json(std::string& to, std::string_view text) {
  to += '"';
  for_each_character(text, [&](std::uint32_t point, std::string_view bytes) {
    if (point == '"' || point == '\\') {
      to += '\\';
      to += bytes;
    } else if (point < 0x20) {
      constexpr char const* hex = "0123456789abcdef";
      to += "\\u00";
      to += hex[point >> 4];
      to += hex[point & 15];
    } else
      to += bytes;
  });
  to += '"';
}

/// The first characters of a text, at most `most`.
inline std::string first_characters(std::string_view text, std::size_t most) {
  std::string result;
  for_each_character(text, [&](std::uint32_t, std::string_view bytes) {
    if (most == 0) return;
    --most;
    result += bytes;
  });
  return result;
}

} // namespace overdub::detail
