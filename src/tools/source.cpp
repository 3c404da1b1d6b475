#include "source.hpp"

#include "failure.hpp"

#include <overdub/ir/parse.hpp>
#include <overdub/ir/verify.hpp>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>
#include <utility>

namespace overdub::tools {
namespace {

// Where an operation, or its function, stands in the text. Where the text itself names the place, that is said instead.
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

} // namespace

source read_source(std::string const& path) {
  std::ostringstream text;
  if (path == "-") {
    text << std::cin.rdbuf();
    return {"<stdin>", std::move(text).str()};
  }
  std::ifstream in(path, std::ios::binary);
  if (!in || (in.peek() != std::ifstream::traits_type::eof() && !(text << in.rdbuf())) || in.bad())
    throw failure(
        exit_code::file, "overdub-opt: " + path + " cannot be read: " + std::strerror(errno) +
                             "; name a file, or - for the standard input");
  return {path, std::move(text).str()};
}

void write_text(std::string const& path, std::string_view text) {
  if (path == "-") {
    std::cout << text << std::flush;
    if (!std::cout) throw failure(exit_code::file, "overdub-opt: the standard output cannot be written");
    return;
  }
  std::ofstream out(path, std::ios::binary);
  out << text << std::flush;
  if (!out)
    throw failure(exit_code::file, "overdub-opt: " + path + " cannot be written: " + std::strerror(errno));
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
    // The same once more, with the places of the text in operations, to say where each fault is.
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
  constexpr std::size_t most = 200; // longer lines say little
  if (line.empty() || line.size() > most || fault.column == 0) return out;
  std::string const margin = std::to_string(fault.line);
  out += "\n  " + margin + " | ";
  out += line;
  out += "\n  " + std::string(margin.size(), ' ') + " | ";
  for (std::size_t i = 0; i + 1 < fault.column; ++i) out += i < line.size() && line[i] == '\t' ? '\t' : ' ';
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
