// Numbers as text, and text as numbers: as in the "C" locale, whatever locale the program or a stream has. Every number in a file, a
// report, a trace, a log, a table or a program's text is written and read here.
#pragma once

#include <overdub/io/c_locale.hpp>

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

/// A form of floating-point numbers in which printf writes them, too.
struct number_form {
  std::chars_format format = std::chars_format::general;
  int precision = 6;
};
/// So many significant digits, without zeros at the end: printf's %.3g.
constexpr number_form significant(int digits) { return {std::chars_format::general, digits}; }
/// So many decimals: printf's %.3f.
constexpr number_form decimals(int count) { return {std::chars_format::fixed, count}; }
/// One digit, and so many decimals, and an exponent: printf's %.3e.
constexpr number_form scientific(int count) { return {std::chars_format::scientific, count}; }

/// Appends a number: an integer, or a floating-point number in the fewest digits from which `parse_number` reads the same bits.
template <class T>
requires((std::integral<T> && !std::same_as<T, bool>) || std::floating_point<T>) void append_number(
    std::string& out, T x) {
  char text[64];
  out.append(text, std::to_chars(text, text + sizeof text, x).ptr);
}
/// Appends an integer to a base from 2 to 36.
template <std::integral T>
void append_number(std::string& out, T x, int base) {
  char text[72];
  out.append(text, std::to_chars(text, text + sizeof text, x, base).ptr);
}
/// Appends a floating-point number in a form of at most 99 digits behind the point. Throws std::length_error where there are too many.
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

/// The text behind as many spaces as make it at least so wide: a cell of a table. In bytes.
inline std::string right_aligned(std::string text, std::size_t width) {
  if (text.size() < width) text.insert(0, width - text.size(), ' ');
  return text;
}
/// The text, and as many spaces as make it at least so wide. In bytes.
inline std::string left_aligned(std::string text, std::size_t width) {
  if (text.size() < width) text.append(width - text.size(), ' ');
  return text;
}

namespace reading {

/// Where the longest number ends that std::from_chars would read in its general form; `first` where there is none.
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

/// As `parse_number`, by the C library, which rounds correctly: for standard libraries without std::from_chars of floating-point numbers.
template <std::floating_point T>
std::from_chars_result parse_by_strtod(char const* first, char const* last, T& x) {
  char const* const end = end_of_floating(first, last);
  if (end == first) return {first, std::errc::invalid_argument};
  std::string const text(first, end); // strtod needs an end
  T read{};
  if constexpr (std::same_as<T, float>)
    read = ::strtof_l(text.c_str(), nullptr, c_locale());
  else
    read = ::strtod_l(text.c_str(), nullptr, c_locale());
  // errno is set for subnormal numbers, too, which are no error.
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

/// Reads the number that [first, last) begins with, as std::from_chars does: no space, no +; floating-point numbers rounded correctly, and
/// inf, infinity and nan in letters of any case. Of a floating-point number that is out of range, x becomes an infinity or a zero, and
/// the result says std::errc::result_out_of_range.
template <std::integral T>
std::from_chars_result parse_number(char const* first, char const* last, T& x) {
  return std::from_chars(first, last, x);
}
template <std::floating_point T>
std::from_chars_result parse_number(char const* first, char const* last, T& x) {
#if defined(__cpp_lib_to_chars) // libc++ has it of integers alone, before version 20
  std::from_chars_result const result = std::from_chars(first, last, x);
  if (result.ec != std::errc::result_out_of_range) return result;
#endif
  return reading::parse_by_strtod(first, last, x);
}

/// Whether all of the text is a number, which x becomes. Not one that is out of range.
template <class T>
bool parse_whole(std::string_view text, T& x) {
  char const* const last = text.data() + text.size();
  auto const [end, wrong] = parse_number(text.data(), last, x);
  return wrong == std::errc() && end == last;
}

} // namespace overdub::io
