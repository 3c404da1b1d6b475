// The exit codes of overdub-opt, and the exception that carries one with a message.
#pragma once

#include <overdub/call/utf8.hpp>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace overdub::tools {

/// The exit codes of overdub-opt; docs/tools.md lists them.
enum class exit_code : int {
  done = 0,
  invalid = 1, // the text does not parse, or breaks a rule of the verifier
  usage = 2,   // the command line is invalid
  run = 3,     // the program threw, or executors disagree
  file = 4,    // a file cannot be read or written, or another program is missing
  test = 5,    // a text test failed
  defect = 6,  // a pass or a context left a program that is not valid, or failed
  limit = 7    // executors were compared, and not all of them could run the program
};

/// Makes a message printable, since parts of it may be arbitrary bytes: replaces invalid UTF-8 and control characters by
/// question marks.
inline std::string printable(std::string_view lines) {
  std::string out;
  detail::for_each_character(lines, [&](std::uint32_t point, std::string_view bytes) {
    bool const is_shown = point == '\n' || point == '\t' || (!detail::is_control(point) && point != 0xFFFD);
    out += is_shown ? bytes : "?";
  });
  return out;
}

/// Ends overdub-opt. `what()` is one or more lines, without the last line's end.
struct failure : std::runtime_error {
  failure(exit_code how, std::string const& lines) : std::runtime_error(printable(lines)), code(how) {}
  exit_code code;
};

} // namespace overdub::tools
