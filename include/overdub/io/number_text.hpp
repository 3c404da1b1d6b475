// Printing and parsing of numbers in the "C" locale, independently of the locale of the program or of a stream. All numbers in files,
// reports, traces, logs, tables and program texts use it.
#pragma once

#include <overdub/core/c_locale.hpp>

#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <version>

namespace overdub::io {

/// A format of floating-point numbers, as printf has it.
struct number_form {
  std::chars_format format = std::chars_format::general;
  int precision = 6;
};
/// The given number of significant digits, without trailing zeros: printf's %.3g for 3.
constexpr number_form significant(int digits) { return {std::chars_format::general, digits}; }
/// The given number of decimals: printf's %.3f for 3.
constexpr number_form decimals(int count) { return {std::chars_format::fixed, count}; }
/// One digit, the given number of decimals, and an exponent: printf's %.3e for 3.
constexpr number_form scientific(int count) { return {std::chars_format::scientific, count}; }

/// Appends a number: an integer, or a floating-point number with the fewest digits that `parse_number` converts to the same bits.
template <class T>
requires((std::integral<T> && !std::same_as<T, bool>) || std::floating_point<T>) void append_number(
    std::string& out, T x) {
  char text[64];
  out.append(text, std::to_chars(text, text + sizeof text, x).ptr);
}
/// Appends an integer in a base from 2 to 36.
template <std::integral T>
void append_number(std::string& out, T x, int base) {
  char text[72];
  out.append(text, std::to_chars(text, text + sizeof text, x, base).ptr);
}
/// Appends a floating-point number in a format with at most 99 digits after the point. Throws std::length_error for more.
template <std::floating_point T>
void append_number(std::string& out, T x, number_form const& form) {
  char text[std::numeric_limits<T>::max_exponent10 + 120];
  auto const [end, wrong] = std::to_chars(text, text + sizeof text, x, form.format, form.precision);
  if (wrong != std::errc())
    throw std::length_error("overdub: a number is written with at most 99 digits after the point");
  out.append(text, end);
}

/// The text that `append_number` appends.
template <class T, class... Form>
std::string number_text(T x, Form const&... form) {
  std::string text;
  append_number(text, x, form...);
  return text;
}

/// Pads the text on the left to the width, in bytes, for a cell of a table.
inline std::string right_aligned(std::string text, std::size_t width) {
  if (text.size() < width) text.insert(0, width - text.size(), ' ');
  return text;
}
/// Pads the text on the right to the width, in bytes.
inline std::string left_aligned(std::string text, std::size_t width) {
  if (text.size() < width) text.append(width - text.size(), ' ');
  return text;
}

namespace reading {

/// The end of the longest number that std::from_chars would parse in its general format; `first` if there is none.
inline char const* end_of_floating(char const* first, char const* last) {
  auto const digits = [&](char const* at) {
    while (at != last && *at >= '0' && *at <= '9') ++at;
    return at;
  };
  auto const has_word = [&](char const* at, std::string_view word) {
    for (char const c : word)
      if (at == last || (*at++ | 0x20) != c) return false;
    return true;
  };
  char const* const begin = first != last && *first == '-' ? first + 1 : first;
  if (has_word(begin, "infinity")) return begin + 8;
  if (has_word(begin, "inf")) return begin + 3;
  if (has_word(begin, "nan")) {
    char const* end = begin + 3;
    if (end == last || *end != '(') return begin + 3;
    do {
      ++end;
    } while (end != last && ((*end >= '0' && *end <= '9') || (*end >= 'a' && *end <= 'z') ||
                             (*end >= 'A' && *end <= 'Z') || *end == '_'));
    return end != last && *end == ')' ? end + 1 : begin + 3;
  }
  char const* end = digits(begin);
  bool has_digits = end != begin;
  if (end != last && *end == '.') {
    char const* const behind = digits(end + 1);
    has_digits = has_digits || behind != end + 1;
    if (has_digits) end = behind;
  }
  if (!has_digits) return first;
  if (end != last && (*end == 'e' || *end == 'E')) {
    char const* exponent = end + 1;
    if (exponent != last && (*exponent == '+' || *exponent == '-')) ++exponent;
    if (char const* const behind = digits(exponent); behind != exponent) end = behind;
  }
  return end;
}

/// The same as `parse_number`, by the C library, which rounds correctly: for standard libraries without std::from_chars for floating-point
/// numbers.
template <std::floating_point T>
std::from_chars_result parse_by_strtod(char const* first, char const* last, T& x) {
  char const* const end = end_of_floating(first, last);
  if (end == first) return {first, std::errc::invalid_argument};
  std::string const text(first, end); // strtod needs a null-terminated string
  T read{};
  if constexpr (std::same_as<T, float>)
    read = ::strtof_l(text.c_str(), nullptr, c_locale());
  else
    read = ::strtod_l(text.c_str(), nullptr, c_locale());
  // errno is also set for subnormal numbers, which are not an error.
  bool is_zero = true;
  for (char const c : text) {
    if (c == 'e' || c == 'E') break;
    is_zero = is_zero && !(c >= '1' && c <= '9');
  }
  bool const is_word = (text.back() | 0x20) >= 'a' || text.back() == ')';
  x = read;
  bool const is_infinite = read > std::numeric_limits<T>::max() || read < std::numeric_limits<T>::lowest();
  if (!is_word && (is_infinite || (read == 0 && !is_zero))) return {end, std::errc::result_out_of_range};
  return {end, std::errc()};
}

} // namespace reading

/// Parses a number at the beginning of [first, last), as std::from_chars does: without a space or a +; floating-point numbers are rounded
/// correctly, and inf, infinity and nan may have letters of any case. For a floating-point number that is out of range, x is an infinity or
/// a zero, and the result has std::errc::result_out_of_range.
template <std::integral T>
std::from_chars_result parse_number(char const* first, char const* last, T& x) {
  return std::from_chars(first, last, x);
}
template <std::floating_point T>
std::from_chars_result parse_number(char const* first, char const* last, T& x) {
#if defined(__cpp_lib_to_chars) // before version 20, libc++ has it only for integers
  std::from_chars_result const result = std::from_chars(first, last, x);
  if (result.ec != std::errc::result_out_of_range) return result;
#endif
  return reading::parse_by_strtod(first, last, x);
}

/// Parses the whole text as a number. Returns false for other text, and for a number that is out of range.
template <class T>
bool parse_whole(std::string_view text, T& x) {
  char const* const last = text.data() + text.size();
  auto const [end, wrong] = parse_number(text.data(), last, x);
  return wrong == std::errc() && end == last;
}

} // namespace overdub::io
