// How overdub-opt ends: its exit codes, and the exception that carries one with what is said to the user.
#pragma once

#include <overdub/call/utf8.hpp>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace overdub::tools {

/// What overdub-opt returns; docs/tools.md lists them.
enum class exit_code : int {
  done = 0,
  invalid = 1, // the text is no program, or breaks a rule of the verifier
  usage = 2,   // the command line makes no sense
  run = 3,     // the program threw, or executors disagree
  file = 4,    // a file cannot be read or written, or another program is missing
  test = 5,    // a text test failed
  defect = 6,  // a pass or a context left a program that is not valid, or failed
  limit = 7    // executors were compared, and not all of them could run the program
};

/// What is said to the user, of which parts are of any bytes: each that is no character of UTF-8, or controls a terminal, is a
/// question mark.
inline std::string printable(std::string_view lines) {
  std::string out;
  detail::for_each_character(lines, [&](std::uint32_t point, std::string_view bytes) {
    bool const is_shown = point == '\n' || point == '\t' || (!detail::is_control(point) && point != 0xFFFD);
    out += is_shown ? bytes : "?";
  });
  return out;
}

/// Ends overdub-opt. `what()` is one or more lines for the user, without the last line's end.
struct failure : std::runtime_error {
  failure(exit_code how, std::string const& lines) : std::runtime_error(printable(lines)), code(how) {}
  exit_code code;
};

} // namespace overdub::tools
