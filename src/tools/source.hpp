// The text of a program, where it came from, and what is wrong with it, as lines for the user.
#pragma once

#include <overdub/ir/error.hpp>
#include <overdub/ir/program.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace overdub::tools {

struct source {
  std::string name; // of the file
  std::string text;
};

/// The text of a file, which may be a FIFO or a device; of the standard input, when the path is "-". Line ends are those of Unix,
/// and there is no byte order mark. Throws failure.
source read_source(std::string const& path);
/// Writes a file; the standard output, when the path is "-". Throws failure.
void write_text(std::string const& path, std::string_view text);

/// Where the first line of the form `; ----` begins, behind which the expected output of a text test stands; the text's
/// length, when there is none.
std::size_t end_of_program(std::string_view text);

/// A program, or what is wrong with its text.
struct reading {
  ir::program program;
  std::vector<ir::diagnostic> faults; // of the parser, else of the verifier; with lines and columns
};
/// With `places`, its operations and functions have their places in the text, unless the text itself gives them places.
reading read_program(source const& from, bool places = false);

/// One thing that is wrong, with its place and the line that it is in: name:line:column: sentence.
std::string describe(source const& from, ir::diagnostic const& fault);
/// All of them. Throws failure, when there are any.
void refuse(source const& from, std::vector<ir::diagnostic> const& faults);

} // namespace overdub::tools
