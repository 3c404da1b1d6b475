// The lexical syntax of numbers, texts and names: what printer and parser share, and how it is written. Every bit pattern
// of a number, and every byte of a text, round-trips.
#pragma once

#include <overdub/core/floating_point.hpp>
#include <overdub/io/number_text.hpp>
#include <overdub/ir/type.hpp>

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>

namespace overdub::ir {
namespace detail {

// Character classes.
inline constexpr std::uint8_t is_space = 1;
inline constexpr std::uint8_t is_digit = 2;
inline constexpr std::uint8_t is_letter = 4; // including _
inline constexpr std::uint8_t is_mark = 8;   // additional characters of names
inline constexpr std::uint8_t is_plain = 16; // needs no escape in a quoted text

inline constexpr std::array<std::uint8_t, 256> char_classes = [] {
  std::array<std::uint8_t, 256> classes{};
  for (std::size_t c = 0x20; c < 0x7f; ++c) classes[c] = is_plain;
  classes['"'] = classes['\\'] = 0;
  for (char const c : {' ', '\t', '\r', '\n'}) classes[static_cast<std::uint8_t>(c)] |= is_space;
  for (std::size_t c = '0'; c <= '9'; ++c) classes[c] |= is_digit;
  for (std::size_t c = 'a'; c <= 'z'; ++c) classes[c] |= is_letter;
  for (std::size_t c = 'A'; c <= 'Z'; ++c) classes[c] |= is_letter;
  classes['_'] |= is_letter;
  for (char const c : {'.', '\'', '#', '<', '>'}) classes[static_cast<std::uint8_t>(c)] |= is_mark;
  return classes;
}();
inline constexpr std::uint8_t word_part = is_letter | is_digit;
inline constexpr std::uint8_t name_part = word_part | is_mark;

constexpr bool is_a(char c, std::uint8_t classes) {
  return (char_classes[static_cast<std::uint8_t>(c)] & classes) != 0;
}

// The length of the UTF-8 character at the start of a text; 0 if there is none.
constexpr std::size_t utf8_length(std::string_view text) {
  auto const byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  std::uint8_t const first = byte(0);
  std::size_t const length = first < 0x80   ? 1
                             : first < 0xc2 ? 0
                             : first < 0xe0 ? 2
                             : first < 0xf0 ? 3
                             : first < 0xf5 ? 4
                                            : 0;
  if (length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  if (length < 3) return length;
  // overlong, a surrogate, or above the last code point
  bool const wrong = (first == 0xe0 && byte(1) < 0xa0) || (first == 0xed && byte(1) > 0x9f) ||
                     (first == 0xf0 && byte(1) < 0x90) || (first == 0xf4 && byte(1) > 0x8f);
  return wrong ? 0 : length;
}

using io::append_number;

template <std::floating_point T>
void append_floating(std::string& out, std::uint64_t bits) {
  constexpr bool is_double = std::is_same_v<T, double>;
  using pattern = std::conditional_t<is_double, std::uint64_t, std::uint32_t>;
  T const x = std::bit_cast<T>(static_cast<pattern>(bits));
  if (overdub::is_nan(x)) {
    out += "nan";
    if (static_cast<pattern>(bits) != std::bit_cast<pattern>(std::numeric_limits<T>::quiet_NaN())) {
      out += "(0x";
      append_number(out, static_cast<pattern>(bits), 16);
      out += ')';
    }
  } else {
    std::size_t const begin = out.size();
    append_number(out, x);
    bool is_integer = true; // so far: it gets a point, since 2 is an i64
    for (std::size_t i = begin; i < out.size(); ++i)
      is_integer = is_integer && (is_a(out[i], is_digit) || out[i] == '-');
    if (is_integer) out += ".0";
  }
  if (!is_double) out += "f32";
}

} // namespace detail

/// Whether a name needs no quotes after % or @: letters, digits, _ . ' # < and >, first a letter or _.
constexpr bool is_identifier(std::string_view name) {
  if (name.empty() || !detail::is_a(name[0], detail::is_letter)) return false;
  for (char const c : name)
    if (!detail::is_a(c, detail::name_part)) return false;
  return true;
}

/// Appends a quoted text. Bytes that are no printable UTF-8 are escaped:
/// , \t, \r or \x and two digits.
inline void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size()) {
      if (detail::is_a(text[end], detail::is_plain)) {
        ++end;
        continue;
      }
      std::size_t const length =
          static_cast<std::uint8_t>(text[end]) < 0x80 ? 0 : detail::utf8_length(text.substr(end, 4));
      if (length == 0) break;
      end += length;
    }
    out += text.substr(at, end - at);
    at = end;
    if (at == text.size()) break;
    char const c = text[at++];
    out += '\\';
    switch (c) {
    case '"':
    case '\\':
      out += c;
      break;
    case '\n':
      out += 'n';
      break;
    case '\t':
      out += 't';
      break;
    case '\r':
      out += 'r';
      break;
    default:
      constexpr char const* digits = "0123456789abcdef";
      out += 'x';
      out += digits[static_cast<std::uint8_t>(c) >> 4];
      out += digits[static_cast<std::uint8_t>(c) & 15];
    }
  }
  out += '"';
}

/// Appends a literal with these bits: 1.5, 1.5f32, 2, true, inf, nan, nan(0x7ff8000000000001).
inline void append_literal(std::string& out, type t, std::uint64_t bits) {
  switch (t.element) {
  case scalar::boolean:
    out += bits != 0 ? "true" : "false";
    break;
  case scalar::f32:
    detail::append_floating<float>(out, bits);
    break;
  case scalar::f64:
    detail::append_floating<double>(out, bits);
    break;
  default:
    detail::append_number(out, static_cast<std::int64_t>(bits));
  }
}

} // namespace overdub::ir
