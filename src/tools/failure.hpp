// How overdub-opt ends: its exit codes, and the exception that carries one with what is said to the user.
#pragma once

#include <stdexcept>
#include <string>

namespace overdub::tools {

/// What overdub-opt returns; docs/tools.md lists them.
enum class exit_code : int {
  done = 0,
  invalid = 1, // the text is no program, or breaks a rule of the verifier
  usage = 2,   // the command line makes no sense
  run = 3,     // the program threw, or executors disagree
  file = 4,    // a file cannot be read or written, or another program is missing
  test = 5,    // a text test failed
  defect = 6   // a pass or a context left a program that is not valid, or failed
};

/// Ends overdub-opt. `what()` is one or more lines for the user, without the last line's end.
struct failure : std::runtime_error {
  failure(exit_code how, std::string const& lines) : std::runtime_error(lines), code(how) {}
  exit_code code;
};

} // namespace overdub::tools
