// Parses calls: @f(1.0, [1.0, 2.0]).
#pragma once

#include <overdub/execute/datum.hpp>

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace overdub::tools {

/// A syntax error in a line.
struct text_error : std::runtime_error {
  text_error(std::size_t where, std::string const& sentence) : std::runtime_error(sentence), at(where) {}
  std::size_t at; // an offset into the text
};

struct call {
  std::string function;
  std::vector<datum> arguments;
};

/// Parses a line from left to right; skips space between tokens.
class line_reader {
public:
  explicit line_reader(std::string_view line) : line_(line) { skip(); }

  bool take(std::string_view part);
  void expect(std::string_view part);
  call read_call();
  datum read_datum();
  /// Letters, digits and _.
  std::string_view word();
  bool is_at_end() const { return at_ == line_.size(); }
  std::string_view rest() const { return line_.substr(at_); }
  std::size_t at() const { return at_; }
  [[noreturn]] void fail_expected(std::string const& what) const;

private:
  void skip();

  std::string_view line_;
  std::size_t at_ = 0;
};

/// Parses a call. Throws text_error.
call parse_call(std::string_view text);

} // namespace overdub::tools
