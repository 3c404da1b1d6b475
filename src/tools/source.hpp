// The text of a program, its file, and its errors as lines for the user.
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

/// Reads a file, which may be a FIFO or a device; the standard input for "-". Normalises line ends to those of Unix, and
/// removes the byte order mark. Throws failure.
source read_source(std::string const& path);
/// Writes a file; the standard output for "-". Throws failure.
void write_text(std::string const& path, std::string_view text);

/// The offset of the first line `; ----`, after which the expected output of a text test begins; the text's length if there
/// is none.
std::size_t end_of_program(std::string_view text);

/// A program, or the errors of its text.
struct reading {
  ir::program program;
  std::vector<ir::diagnostic> faults; // of the parser, else of the verifier; with lines and columns
};
/// With `places`, operations and functions get locations in the text, unless the text has explicit ones.
reading read_program(source const& from, bool places = false);

/// An error with its location and line: name:line:column: sentence.
std::string describe(source const& from, ir::diagnostic const& fault);
/// Throws failure with all errors, if there are any.
void refuse(source const& from, std::vector<ir::diagnostic> const& faults);

} // namespace overdub::tools
