// Formats text and numbers for reports.
#pragma once

#include <overdub/call/utf8.hpp>
#include <overdub/core/error.hpp>
#include <overdub/core/floating_point.hpp>
#include <overdub/io/number_text.hpp>

#include <boost/locale/utf.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace overdub::report {

/// Thrown if a block of a report is invalid, or a report cannot be written.
struct OVERDUB_EXPORTED report_error : error {
  using error::error;
};

/// Escapes text for elements and quoted attributes of HTML and SVG. Control characters become spaces, and invalid UTF-8 the replacement
/// character.
inline std::string escaped(std::string_view text) {
  std::string result;
  detail::append_xml(result, text);
  return result;
}

/// The number of characters of a text.
inline std::size_t length(std::string_view text) {
  std::size_t count = 0;
  detail::for_each_character(text, [&](std::uint32_t, std::string_view) { ++count; });
  return count;
}

/// The text; if it has more than `limit` characters, its beginning and "…".
inline std::string shortened(std::string_view text, std::size_t limit) {
  if (length(text) <= limit) return std::string(text);
  return detail::first_characters(text, limit == 0 ? 0 : limit - 1) + "…";
}

namespace writing {

/// A number with this number of decimals; never a negative zero.
inline std::string fixed(double x, int decimals) {
  std::string text = io::number_text(x, io::decimals(decimals));
  if (text.front() == '-' && text.find_first_not_of("-0.") == std::string::npos) text.erase(0, 1);
  return text;
}

/// A number in scientific notation, such as 1.5e7.
inline std::string scientific(double x, int digits) {
  std::string text = io::number_text(x, io::scientific(digits - 1));
  std::size_t const e = text.find('e') + 1;
  std::size_t const first = text.find_first_not_of("+0", e + (text[e] == '-'));
  return text.substr(0, e) + (text[e] == '-' ? "-" : "") +
         (first == std::string::npos ? "0" : text.substr(first));
}

} // namespace writing

/// A number for readers: an integer with all its digits, another number with `digits` significant digits, and at least all digits before
/// the decimal point; very large and very small numbers in scientific notation.
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

/// A number rounded to about a hundredth of `spread`, the scale of its variation, such as a standard deviation.
inline std::string number_beside(double x, double spread) {
  if (!overdub::is_finite(x) || !overdub::is_finite(spread) || spread <= 0 || x == std::floor(x))
    return number(x);
  int const place = static_cast<int>(std::floor(std::log10(spread)));
  if (std::abs(x) < 1e7 && place >= -4) return writing::fixed(x, place < 2 ? 2 - place : 0);
  int const digits = static_cast<int>(std::floor(std::log10(std::abs(x)))) - place + 3;
  return writing::scientific(x, digits < 1 ? 1 : digits > 16 ? 16 : digits);
}

/// A count and a noun, which is in the plural unless n is 1: "1 draw", "4000 draws".
inline std::string counted(std::size_t n, std::string_view what) {
  return io::number_text(n) + " " + std::string(what) + (n == 1 ? "" : "s");
}

} // namespace overdub::report
