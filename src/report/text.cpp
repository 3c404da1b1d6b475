#include <overdub/call/utf8.hpp>
#include <overdub/core/floating_point.hpp>
#include <overdub/io/number_text.hpp>
#include <overdub/report/text.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace overdub::report {

std::string escaped(std::string_view text) {
  std::string result;
  detail::append_xml(result, text);
  return result;
}

std::size_t length(std::string_view text) {
  std::size_t count = 0;
  detail::for_each_character(text, [&](std::uint32_t, std::string_view) { ++count; });
  return count;
}

std::string shortened(std::string_view text, std::size_t limit) {
  if (length(text) <= limit) return std::string(text);
  return detail::first_characters(text, limit == 0 ? 0 : limit - 1) + "…";
}

} // namespace overdub::report

namespace overdub::report::writing {

std::string fixed(double x, int decimals) {
  std::string text = io::number_text(x, io::decimals(decimals));
  if (text.front() == '-' && text.find_first_not_of("-0.") == std::string::npos) text.erase(0, 1);
  return text;
}

std::string scientific(double x, int digits) {
  std::string text = io::number_text(x, io::scientific(digits - 1));
  std::size_t const e = text.find('e') + 1;
  std::size_t const first = text.find_first_not_of("+0", e + (text[e] == '-'));
  return text.substr(0, e) + (text[e] == '-' ? "-" : "") +
         (first == std::string::npos ? "0" : text.substr(first));
}

} // namespace overdub::report::writing

namespace overdub::report {

std::string number(double x, int digits) {
  if (overdub::is_nan(x)) return "not defined";
  if (overdub::is_infinite(x)) return x < 0 ? "-∞" : "∞";
  if (x == 0) return "0";
  double const magnitude = std::abs(x);
  if (magnitude < 1e-4 || magnitude >= 1e7) return writing::scientific(x, digits);
  if (x == std::floor(x)) return writing::fixed(x, 0);
  int const before = static_cast<int>(std::floor(std::log10(magnitude))) + 1;
  return writing::fixed(x, digits > before ? digits - before : 0);
}

std::string number_beside(double x, double spread) {
  if (!overdub::is_finite(x) || !overdub::is_finite(spread) || spread <= 0 || x == std::floor(x))
    return number(x);
  int const place = static_cast<int>(std::floor(std::log10(spread)));
  if (std::abs(x) < 1e7 && place >= -4) return writing::fixed(x, place < 2 ? 2 - place : 0);
  int const digits = static_cast<int>(std::floor(std::log10(std::abs(x)))) - place + 3;
  return writing::scientific(x, digits < 1 ? 1 : digits > 16 ? 16 : digits);
}

std::string counted(std::size_t n, std::string_view what) {
  return io::number_text(n) + " " + std::string(what) + (n == 1 ? "" : "s");
}

} // namespace overdub::report
