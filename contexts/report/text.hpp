// Text and numbers as a page shows them.
#pragma once

#include <overdub/call/error.hpp>
#include <boost/locale/utf.hpp>
#include <overdub/call/utf8.hpp>
#include <overdub/core/floating_point.hpp>
#include <overdub/io/number_text.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace overdub::report {

/// A block of a report makes no sense, or a report cannot be written.
struct OVERDUB_EXPORTED report_error : error {
  using error::error;
};

/// Text as HTML and SVG take it, in elements and in quoted attributes: control characters become spaces, and bytes that are no UTF-8
/// the character that says so.
inline std::string escaped(std::string_view text) {
  std::string result;
  detail::append_xml(result, text);
  return result;
}

/// How many characters a text has.
inline std::size_t length(std::string_view text) {
  std::size_t count = 0;
  detail::for_each_character(text, [&](std::uint32_t, std::string_view) { ++count; });
  return count;
}

/// The text, or where it has more characters than `most`, its beginning and "…".
inline std::string shortened(std::string_view text, std::size_t most) {
  if (length(text) <= most) return std::string(text);
  return detail::first_characters(text, most == 0 ? 0 : most - 1) + "…";
}

namespace writing {

/// With so many decimals, and no minus before zeros.
inline std::string fixed(double x, int decimals) {
  std::string text = io::number_text(x, io::decimals(decimals));
  if (text.front() == '-' && text.find_first_not_of("-0.") == std::string::npos) text.erase(0, 1);
  return text;
}

/// Like 1.5e7.
inline std::string scientific(double x, int digits) {
  std::string text = io::number_text(x, io::scientific(digits - 1));
  std::size_t const e = text.find('e') + 1;
  std::size_t const first = text.find_first_not_of("+0", e + (text[e] == '-'));
  return text.substr(0, e) + (text[e] == '-' ? "-" : "") +
         (first == std::string::npos ? "0" : text.substr(first));
}

} // namespace writing

/// A number for readers: an integer as it is, others to so many significant digits and all digits in front of the point; and in the
/// form 1.5e7 what is very large or very small.
inline std::string number(double x, int digits = 3) {
  if (overdub::is_nan(x)) return "not defined";
  if (overdub::is_infinite(x)) return x < 0 ? "-∞" : "∞";
  if (x == 0) return "0";
  double const magnitude = std::abs(x);
  if (magnitude < 1e-4 || magnitude >= 1e7) return writing::scientific(x, digits);
  if (x == std::floor(x)) return writing::fixed(x, 0);
  int const before = static_cast<int>(std::floor(std::log10(magnitude))) + 1;
  return writing::fixed(x, digits > before ? digits - before : 0);
}

/// A number beside others of which `spread` says how far they lie apart, as a standard deviation: to about a hundredth of it.
inline std::string number_beside(double x, double spread) {
  if (!overdub::is_finite(x) || !overdub::is_finite(spread) || spread <= 0 || x == std::floor(x)) return number(x);
  int const place = static_cast<int>(std::floor(std::log10(spread)));
  if (std::abs(x) < 1e7 && place >= -4) return writing::fixed(x, place < 2 ? 2 - place : 0);
  int const digits = static_cast<int>(std::floor(std::log10(std::abs(x)))) - place + 3;
  return writing::scientific(x, digits < 1 ? 1 : digits > 16 ? 16 : digits);
}

/// A count and what is counted, in a sentence: "1 draw", "4000 draws".
inline std::string counted(std::size_t n, std::string_view what) {
  return io::number_text(n) + " " + std::string(what) + (n == 1 ? "" : "s");
}

} // namespace overdub::report
