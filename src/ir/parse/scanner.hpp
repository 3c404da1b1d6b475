// The tokens of a program's text, read on demand.
#pragma once

#include <overdub/implementation/ir/literal.hpp>
#include <overdub/implementation/ir/parse/faults.hpp>
#include <overdub/io/number_text.hpp>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>

namespace overdub::ir::detail {

/// A number, true or false.
struct literal_value {
  type of;
  std::uint64_t bits = 0;
};

/// The position is at the start of a token, or at the end. Skips space and comments after each token. O(1) a character.
class scanner {
public:
  explicit scanner(std::string_view text)
      : text_(text), at_(text.data()), end_(text.data() + text.size()), faults_(text) {
    skip_space();
  }

  text_faults& faults() { return faults_; }
  std::size_t offset() const { return static_cast<std::size_t>(at_ - text_.data()); }
  bool is_at_end() const { return at_ == end_; }
  /// Whether a line ended after the last token.
  bool line_ended() const { return std::find(last_, at_, '\n') != at_; }
  /// Starts a new construct: line_ended() is relative to it.
  void begin() { last_ = at_; }

  /// The first character of the token; NUL at the end.
  char peek() const { return at_ == end_ ? '\0' : *at_; }
  bool is_at_word(std::string_view word) const {
    return static_cast<std::size_t>(end_ - at_) >= word.size() &&
           std::memcmp(at_, word.data(), word.size()) == 0 &&
           (at_ + word.size() == end_ || !is_a(at_[word.size()], word_part));
  }

  // ---- reading
  bool take(char c) {
    if (at_ == end_ || *at_ != c) return false;
    ++at_;
    end_token();
    return true;
  }
  bool take(std::string_view word) {
    if (!is_at_word(word)) return false;
    at_ += word.size();
    end_token();
    return true;
  }
  bool take_arrow() {
    if (end_ - at_ < 2 || at_[0] != '-' || at_[1] != '>') return false;
    at_ += 2;
    end_token();
    return true;
  }
  void expect(char c) {
    if (!take(c)) fail_expected(quoted(std::string_view(&c, 1)));
  }
  /// Letters, digits and _; empty if there are none.
  std::string_view word() {
    if (at_ == end_ || !is_a(*at_, is_letter)) return {};
    char const* const start = at_;
    do ++at_;
    while (at_ != end_ && is_a(*at_, word_part));
    std::string_view const found(start, static_cast<std::size_t>(at_ - start));
    end_token();
    return found;
  }
  /// The name after % or @.
  std::string_view name() {
    char const* const start = ++at_;
    while (at_ != end_ && is_a(*at_, name_part)) ++at_;
    std::string_view const found(start, static_cast<std::size_t>(at_ - start));
    bool const is_number = found.find_first_not_of("0123456789") == std::string_view::npos;
    if (found.empty() || (!is_number && !is_a(found[0], is_letter))) {
      at_ = start - 1;
      fail_expected("a name");
    }
    end_token();
    return found;
  }
  /// @"any text": whether a quote follows the @.
  bool is_at_quoted_name() const { return end_ - at_ > 1 && at_[1] == '"'; }
  std::string_view quoted_name() {
    ++at_;
    return text();
  }
  /// An unescaped quoted text; valid until the next is read.
  std::string_view text() {
    if (peek() != '"') fail_expected("a text in quotes");
    char const* const start = at_++;
    char const* const first = at_;
    buffer_.clear();
    char const* copied = first;
    for (;; ++at_) {
      if (at_ == end_ || *at_ == '\n') {
        at_ = start;
        fail(
            offset(),
            "the text in quotes does not end on its line; close it, and write \\n for the end of a line");
      }
      if (*at_ == '"') break;
      if (*at_ != '\\') continue;
      buffer_.append(copied, at_);
      append_escaped(start);
      copied = at_ + 1;
    }
    std::string_view found(first, static_cast<std::size_t>(at_ - first));
    if (copied != first) {
      buffer_.append(copied, at_);
      found = buffer_;
    }
    ++at_;
    end_token();
    return found;
  }
  /// Whether a number, true or false is next.
  bool is_at_literal() const {
    char const c = peek();
    if (is_a(c, is_digit)) return true;
    if (c == '-') return end_ - at_ > 1 && at_[1] != '>';
    return (c == 't' && is_at_word("true")) || (c == 'f' && is_at_word("false")) ||
           (c == 'i' && (is_at_word("inf") || is_at_word("inff32"))) ||
           (c == 'n' && (is_at_word("nan") || is_at_word("nanf32")));
  }
  /// Whether source locations follow: at "file":1, and not the operation `at`.
  bool is_at_place() const {
    if (peek() != 'a' || !is_at_word("at")) return false;
    char const* c = at_ + 2;
    while (c != end_ && is_a(*c, is_space)) ++c;
    return c != end_ && *c == '"';
  }
  literal_value literal() {
    if (take("true")) return {boolean, 1};
    if (take("false")) return {boolean, 0};
    char const* const start = at_;
    if (*at_ == '-') ++at_;
    char const* const first = at_;
    while (at_ != end_) {
      bool const sign = (*at_ == '+' || *at_ == '-') && at_ != first && (at_[-1] == 'e' || at_[-1] == 'E');
      if (!sign && !is_a(*at_, word_part) && *at_ != '.') break;
      ++at_;
    }
    std::string_view digits(start, static_cast<std::size_t>(at_ - start));
    literal_value found;
    if (digits == "nan" && at_ != end_ && *at_ == '(')
      found = nan_of_bits(start);
    else if (digits.ends_with("f32"))
      found = {f32, floating<float>(start, digits.substr(0, digits.size() - 3))};
    else if (is_a(digits.back(), is_digit) && digits.find_first_of(".eE") == std::string_view::npos)
      found = {i64, static_cast<std::uint64_t>(number<std::int64_t>(start, digits, "i64"))};
    else
      found = {f64, floating<double>(start, digits)};
    end_token();
    return found;
  }
  /// A line or column number, or an index.
  std::uint32_t count() {
    char const* const start = at_;
    while (at_ != end_ && is_a(*at_, is_digit)) ++at_;
    if (at_ == start) fail_expected("a number");
    auto const found =
        number<std::uint32_t>(start, {start, static_cast<std::size_t>(at_ - start)}, "32 bits");
    end_token();
    return found;
  }

  // ---- errors
  /// Parsing recovers after the last token.
  [[noreturn]] void fail(std::size_t at, std::string sentence) {
    faults_.add(at, std::move(sentence));
    throw syntax_fault();
  }
  /// At the end of a line, the error is located there.
  [[noreturn]] void fail_expected(std::string const& wanted) {
    if (is_at_end()) fail(last_offset(), "expected " + wanted + ", found the end of the text");
    if (line_ended()) fail(last_offset(), "expected " + wanted + ", found the end of the line");
    fail(offset(), "expected " + wanted + ", found " + here());
  }
  /// The next token, for error messages.
  std::string here() const {
    if (peek() == '"') return "a text in quotes";
    char const* end = at_;
    if (end != end_ && (*end == '%' || *end == '@')) ++end;
    while (end != end_ && end - at_ < 64 && is_a(*end, name_part)) ++end;
    if (end == at_ && end != end_) end += std::max<std::size_t>(1, utf8_length({at_, rest()}));
    return quoted({at_, static_cast<std::size_t>(end - at_)});
  }

  /// Skips to the end of the line, after blocks that begin on it, or to the brace that ends the enclosing block.
  void skip_operation() {
    at_ = last_;
    std::size_t depth = 0;
    while (at_ != end_) {
      switch (*at_) {
      case '\n':
        if (depth == 0 || begins_function(at_ + 1)) return skip_space();
        break;
      case '{':
        ++depth;
        break;
      case '}':
        if (depth == 0) return;
        --depth;
        break;
      case '"':
        skip_text();
        continue;
      case ';':
        skip_line();
        continue;
      default:
        break;
      }
      ++at_;
    }
    last_ = at_;
  }
  /// Skips to the next line that begins a function.
  void skip_function() {
    at_ = last_;
    while (at_ != end_) {
      if (*at_ == '"')
        skip_text();
      else if (*at_ == ';')
        skip_line();
      else if (*at_++ == '\n' && begins_function(at_))
        break;
    }
    last_ = at_;
    skip_space();
  }

private:
  std::size_t last_offset() const { return static_cast<std::size_t>(last_ - text_.data()); }
  std::size_t rest() const { return static_cast<std::size_t>(end_ - at_); }

  void end_token() {
    last_ = at_;
    skip_space();
  }
  void skip_space() {
    while (at_ != end_) {
      if (is_a(*at_, is_space))
        ++at_;
      else if (*at_ == ';')
        skip_line();
      else
        return;
    }
  }
  void skip_line() {
    void const* const newline = std::memchr(at_, '\n', rest());
    at_ = newline ? static_cast<char const*>(newline) : end_;
  }
  // Skips a quoted text, at most to the end of its line.
  void skip_text() {
    for (++at_; at_ != end_ && *at_ != '\n'; ++at_) {
      if (*at_ == '"') {
        ++at_;
        return;
      }
      if (*at_ == '\\' && at_ + 1 != end_ && at_[1] != '\n') ++at_;
    }
  }
  bool begins_function(char const* c) const {
    constexpr std::string_view word = "func";
    while (c != end_ && (*c == ' ' || *c == '\t')) ++c;
    return static_cast<std::size_t>(end_ - c) > word.size() &&
           std::memcmp(c, word.data(), word.size()) == 0 && !is_a(c[word.size()], name_part);
  }

  // An escape sequence, from its backslash to its last character.
  void append_escaped(char const* start) {
    char const* const backslash = at_++;
    switch (at_ == end_ ? '\0' : *at_) {
    case '"':
    case '\\':
      buffer_ += *at_;
      return;
    case 'n':
      buffer_ += '\n';
      return;
    case 't':
      buffer_ += '\t';
      return;
    case 'r':
      buffer_ += '\r';
      return;
    case 'x':
      if (end_ - at_ > 2) {
        std::uint8_t byte = 0;
        auto const [end, wrong] = std::from_chars(at_ + 1, at_ + 3, byte, 16);
        if (wrong == std::errc() && end == at_ + 3) {
          buffer_ += static_cast<char>(byte);
          at_ += 2;
          return;
        }
      }
      [[fallthrough]];
    default:
      at_ = start;
      fail(
          static_cast<std::size_t>(backslash - text_.data()),
          "a text in quotes has the escapes \\\", \\\\, \\n, \\t, \\r, and \\x with two digits");
    }
  }

  template <class T>
  T number(char const* start, std::string_view digits, std::string_view range) {
    T x{};
    auto const [end, wrong] = io::parse_number(digits.data(), digits.data() + digits.size(), x);
    if (wrong == std::errc() && end == digits.data() + digits.size()) return x;
    at_ = start;
    std::size_t const at = offset();
    if (wrong == std::errc::result_out_of_range)
      fail(at, "the number " + quoted(digits) + " is out of the range of " + std::string(range));
    fail(at, "expected a number, found " + quoted(digits));
  }
  template <class T>
  std::uint64_t floating(char const* start, std::string_view digits) {
    using pattern = std::conditional_t<std::is_same_v<T, double>, std::uint64_t, std::uint32_t>;
    using limits = std::numeric_limits<T>;
    std::size_t const sign = digits.starts_with('-') ? 1 : 0;
    T x{};
    if (digits.substr(sign) == "inf")
      x = sign != 0 ? -limits::infinity() : limits::infinity();
    else if (digits == "nan")
      x = limits::quiet_NaN();
    else if (digits.size() > sign && is_a(digits[sign], is_digit)) // parse_number also accepts words
      x = number<T>(start, digits, std::is_same_v<T, double> ? "f64" : "f32");
    else {
      at_ = start;
      fail(offset(), "expected a number, found " + quoted(digits));
    }
    return std::bit_cast<pattern>(x);
  }
  // nan(0x7ff8000000000001), nan(0x7fc00001)f32: at the opening bracket.
  literal_value nan_of_bits(char const* start) {
    std::uint64_t bits = 0;
    bool valid = end_ - at_ > 3 && at_[1] == '0' && at_[2] == 'x';
    if (valid) {
      auto const [end, wrong] = std::from_chars(at_ + 3, end_, bits, 16);
      valid = wrong == std::errc() && end != end_ && *end == ')';
      if (valid) at_ = end + 1;
    }
    bool const is_float = valid && is_at_word("f32");
    if (is_float) at_ += 3;
    if (valid && is_float)
      valid = bits >> 32 == 0 && (bits & 0x7fffffff) > 0x7f800000;
    else if (valid)
      valid = (bits & 0x7fffffffffffffff) > 0x7ff0000000000000;
    if (valid) return {is_float ? f32 : f64, bits};
    at_ = start;
    fail(
        offset(),
        "expected the bits of a NaN, as in nan(0x7ff8000000000001) for f64 and nan(0x7fc00001)f32 for f32");
  }

  std::string_view text_;
  char const* at_;
  char const* end_;
  char const* last_ = at_; // after the last token
  std::string buffer_;
  text_faults faults_;
};

} // namespace overdub::ir::detail
