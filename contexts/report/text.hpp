// Text and numbers as a page shows them.
#pragma once

#include <overdub/call/error.hpp>

#include <boost/locale/utf.hpp>

#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace overdub::report {

/// A block of a report makes no sense, or a report cannot be written.
struct report_error : error {
  using error::error;
};

namespace writing {

/// Calls f(code point, its bytes) for each character of a text; what is no UTF-8 is U+FFFD, of no bytes.
template <class F>
void for_each_character(std::string_view text, F const& f) {
  using utf8 = boost::locale::utf::utf_traits<char>;
  for (auto at = text.begin(); at != text.end();) {
    auto const begin = at;
    auto const point = utf8::decode(at, text.end());
    if (boost::locale::utf::is_valid_codepoint(point)) {
      f(point, std::string_view(begin, at));
    } else {
      f(boost::locale::utf::code_point{0xFFFD}, std::string_view());
      at = begin + 1;
      while (at != text.end() && utf8::is_trail(*at)) ++at;
    }
  }
}

inline bool is_control(std::uint32_t point) { return point < 0x20 || (point >= 0x7F && point < 0xA0); }

} // namespace writing

/// Text as HTML and SVG take it, in elements and in quoted attributes: control characters become spaces, and bytes that are no UTF-8
/// the character that says so.
inline std::string escaped(std::string_view text) {
  std::string result;
  writing::for_each_character(text, [&](std::uint32_t point, std::string_view bytes) {
    switch (point) {
    case '&':
      result += "&amp;";
      break;
    case '<':
      result += "&lt;";
      break;
    case '>':
      result += "&gt;";
      break;
    case '"':
      result += "&quot;";
      break;
    case '\'':
      result += "&#39;";
      break;
    default:
      if (bytes.empty())
        result += "\uFFFD";
      else if (writing::is_control(point))
        result += ' ';
      else
        result += bytes;
    }
  });
  return result;
}

/// How many characters a text has.
inline std::size_t length(std::string_view text) {
  std::size_t count = 0;
  writing::for_each_character(text, [&](std::uint32_t, std::string_view) { ++count; });
  return count;
}

/// The text, or where it has more characters than `most`, its beginning and "…".
inline std::string shortened(std::string_view text, std::size_t most) {
  if (length(text) <= most) return std::string(text);
  std::string result;
  std::size_t count = 0;
  writing::for_each_character(text, [&](std::uint32_t, std::string_view bytes) {
    if (++count < most) result += bytes.empty() ? "\uFFFD" : bytes;
  });
  return result + "…";
}

namespace writing {

inline std::string to_text(double x, std::chars_format format, int precision) {
  char text[400]; // the largest double has 309 digits
  return std::string(text, std::to_chars(text, text + sizeof text, x, format, precision).ptr);
}

/// With so many decimals, and no minus before zeros.
inline std::string fixed(double x, int decimals) {
  std::string text = to_text(x, std::chars_format::fixed, decimals);
  if (text.front() == '-' && text.find_first_not_of("-0.") == std::string::npos) text.erase(0, 1);
  return text;
}

/// Like 1.5e7.
inline std::string scientific(double x, int digits) {
  std::string text = to_text(x, std::chars_format::scientific, digits - 1);
  std::size_t const e = text.find('e') + 1;
  std::size_t const first = text.find_first_not_of("+0", e + (text[e] == '-'));
  return text.substr(0, e) + (text[e] == '-' ? "-" : "") +
         (first == std::string::npos ? "0" : text.substr(first));
}

} // namespace writing

/// A number for readers: an integer as it is, others to so many significant digits and all digits in front of the point; and in the
/// form 1.5e7 what is very large or very small.
inline std::string number(double x, int digits = 3) {
  if (std::isnan(x)) return "not defined";
  if (std::isinf(x)) return x < 0 ? "-∞" : "∞";
  if (x == 0) return "0";
  double const magnitude = std::abs(x);
  if (magnitude < 1e-4 || magnitude >= 1e7) return writing::scientific(x, digits);
  if (x == std::floor(x)) return writing::fixed(x, 0);
  int const before = static_cast<int>(std::floor(std::log10(magnitude))) + 1;
  return writing::fixed(x, digits > before ? digits - before : 0);
}

/// A number beside others of which `spread` says how far they lie apart, as a standard deviation: to about a hundredth of it.
inline std::string number_beside(double x, double spread) {
  if (!std::isfinite(x) || !std::isfinite(spread) || spread <= 0 || x == std::floor(x)) return number(x);
  int const place = static_cast<int>(std::floor(std::log10(spread)));
  if (std::abs(x) < 1e7 && place >= -4) return writing::fixed(x, place < 2 ? 2 - place : 0);
  int const digits = static_cast<int>(std::floor(std::log10(std::abs(x)))) - place + 3;
  return writing::scientific(x, digits < 1 ? 1 : digits > 16 ? 16 : digits);
}

/// A count and what is counted, in a sentence: "1 draw", "4000 draws".
inline std::string counted(std::size_t n, std::string_view what) {
  return std::to_string(n) + " " + std::string(what) + (n == 1 ? "" : "s");
}

} // namespace overdub::report
