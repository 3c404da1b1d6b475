#include "source.hpp"

#include "failure.hpp"

#include <overdub/io/output_file.hpp>
#include <overdub/ir/parse.hpp>
#include <overdub/ir/verify.hpp>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <utility>
#include <vector>

namespace overdub::tools {
namespace {

constexpr std::size_t max_text = std::size_t{256} << 20;

// Sets the line of an operation, or of its function, in the text; a source location in the text itself has precedence.
void locate(ir::diagnostic& fault, ir::program const& p, std::string_view file) {
  if (index_of(fault.where) >= p.functions.size()) return;
  ir::function const& f = p[fault.where];
  bool const has_node = index_of(fault.at) < f.node_count();
  ir::place_id const at = has_node ? f[fault.at].place : f.place;
  if (at == ir::nothing) return;
  if (p.text(p[at].file) == file) {
    fault.line = p[at].line;
    fault.column = p[at].column;
  } else
    fault.text += " (at " + std::string(p.text(p[at].file)) + ':' + std::to_string(p[at].line) + ')';
}

// Removes the byte order mark, and converts line ends.
void as_unix_text(std::string& text) {
  constexpr std::string_view mark = "\xef\xbb\xbf";
  if (text.starts_with(mark)) text.erase(0, mark.size());
  if (text.find("\r\n") == std::string::npos) return;
  std::size_t to = 0;
  for (std::size_t i = 0; i < text.size(); ++i)
    if (text[i] != '\r' || i + 1 == text.size() || text[i + 1] != '\n') text[to++] = text[i];
  text.resize(to);
}

} // namespace

source read_source(std::string const& path) {
  auto const fail = [&](std::string const& why) {
    throw failure(
        exit_code::file, "overdub-opt: " +
                             (path == "-"    ? "the standard input"
                              : path.empty() ? "\"\""
                                             : path) +
                             ' ' + why);
  };
  source from{path == "-" ? "<stdin>" : path, {}};
  std::ifstream file;
  if (path != "-") file.open(path, std::ios::binary);
  std::istream& in = path == "-" ? std::cin : file;
  std::vector<char> part(std::size_t{1} << 20);
  do {
    in.read(part.data(), static_cast<std::streamsize>(part.size()));
    if (!in && !in.eof())
      fail(
          "cannot be read: " + std::string(std::strerror(errno)) +
          "; name a file, or - for the standard input");
    from.text.append(part.data(), static_cast<std::size_t>(in.gcount()));
    if (from.text.size() > max_text)
      fail("is longer than 256 MiB, the longest text that is read; split the program");
  } while (in);
  if (from.text.starts_with("\xff\xfe") || from.text.starts_with("\xfe\xff"))
    fail("is no text of UTF-8, but of UTF-16; save it as UTF-8");
  as_unix_text(from.text);
  return from;
}

void write_text(std::string const& path, std::string_view text) {
  if (path == "-") {
    std::cout << text << std::flush;
    if (!std::cout) throw failure(exit_code::file, "overdub-opt: the standard output cannot be written");
    return;
  }
  try {
    io::output_file out(path, io::writing::at_once);
    out.append(text);
    out.commit();
  } catch (io::output_error const& e) {
    throw failure(exit_code::file, "overdub-opt: " + path + " cannot be written: " + e.what());
  }
}

std::size_t end_of_program(std::string_view text) {
  constexpr std::string_view mark = "; ----";
  if (text.starts_with(mark)) return 0;
  std::size_t const at = text.find("\n; ----");
  return at == std::string_view::npos ? text.size() : at + 1;
}

reading read_program(source const& from, bool places) {
  std::string_view const text = std::string_view(from.text).substr(0, end_of_program(from.text));
  reading all;
  try {
    all.program = places ? ir::parse(text, {.file = from.name}) : ir::parse(text);
    all.faults = ir::faults_of(all.program);
    if (all.faults.empty()) return all;
    // Parses again with locations in the text, to locate each error.
    ir::program const placed = ir::parse(text, {.file = from.name});
    all.faults = ir::faults_of(placed);
    for (ir::diagnostic& fault : all.faults) locate(fault, placed, from.name);
  } catch (ir::parse_error const& e) {
    all.faults = e.diagnostics;
  }
  return all;
}

std::string describe(source const& from, ir::diagnostic const& fault) {
  std::string out = from.name;
  if (fault.line == 0) return out + ": " + fault.text;
  out += ':' + std::to_string(fault.line) + ':' + std::to_string(fault.column) + ": " + fault.text;
  std::string_view rest = from.text;
  for (std::uint32_t line = 1; line < fault.line && !rest.empty(); ++line)
    rest.remove_prefix(std::min(rest.find('\n'), rest.size() - 1) + 1);
  std::string_view const line = rest.substr(0, rest.find('\n'));
  constexpr std::size_t most = 200; // longer lines are not shown
  if (line.empty() || line.size() > most || fault.column == 0) return out;
  std::string const margin = std::to_string(fault.line);
  out += "\n  " + margin + " | ";
  out += line;
  out += "\n  " + std::string(margin.size(), ' ') + " | ";
  for (char const above : printable(line.substr(0, fault.column - 1))) {
    bool const goes_on = (static_cast<unsigned char>(above) & 0xc0u) == 0x80; // inside of a UTF-8 character
    if (!goes_on) out += above == '\t' ? '\t' : ' ';
  }
  if (fault.column - 1 > line.size()) out.append(fault.column - 1 - line.size(), ' ');
  return out + '^';
}

void refuse(source const& from, std::vector<ir::diagnostic> const& faults) {
  if (faults.empty()) return;
  std::string lines;
  for (ir::diagnostic const& fault : faults) {
    if (!lines.empty()) lines += '\n';
    lines += describe(from, fault);
  }
  throw failure(exit_code::invalid, lines);
}

} // namespace overdub::tools
