// Spans as a tree in text, for tests: the content of a trace's Chrome JSON, without times.
#pragma once

#include <overdub/contexts/trace.hpp>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include <unistd.h>

namespace spans {

/// The text between two others in a line; empty if they are not in the line.
inline std::string between(std::string const& line, std::string const& before, std::string const& after) {
  auto const begin = line.find(before);
  if (begin == std::string::npos) return "";
  auto const end = line.find(after, begin + before.size());
  return line.substr(begin + before.size(), end - begin - before.size());
}

/// A line for each span, with its depth as indentation and its arguments; a line for each end with a result or failure; threads by name.
inline std::string tree(std::string const& chrome) {
  std::istringstream lines(chrome);
  std::string text;
  std::size_t depth = 0;
  for (std::string line; std::getline(lines, line);) {
    std::string const phase = between(line, "\"ph\":\"", "\"");
    std::string const arguments = between(line, "\"args\":{", "}");
    if (phase == "E") --depth;
    std::string const indent(2 * depth, ' ');
    if (phase == "B") {
      text += indent + between(line, "\"name\":\"", "\"") +
              (arguments.empty() ? "" : " {" + arguments + "}") + '\n';
      ++depth;
    } else if (phase == "E" && !arguments.empty())
      text += indent + "= " + arguments + '\n';
    else if (phase == "i")
      text += indent + between(line, "\"name\":\"", "\"") + '\n';
  }
  return text;
}
inline std::string tree(overdub::contexts::recording const& r) {
  return tree(r.text(overdub::contexts::trace_format::chrome));
}

/// The number of occurrences of one text in another.
inline int occurrences(std::string const& in, std::string const& of) {
  int n = 0;
  for (auto at = in.find(of); at != std::string::npos; at = in.find(of, at + 1)) ++n;
  return n;
}

inline std::string contents(std::string const& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The output of a shell command, errors included, with the prefix "failed: " if it fails.
inline std::string output_of(std::string const& command) {
  std::FILE* const pipe = popen((command + " 2>&1").c_str(), "r");
  std::string text;
  char part[4096];
  for (std::size_t n; (n = std::fread(part, 1, sizeof part, pipe)) > 0;) text.append(part, n);
  return pclose(pipe) == 0 ? text : "failed: " + text;
}

/// The text in which protoc decodes a file for Perfetto, by the schema in perfetto.proto.
inline std::string decoded(std::string const& path) {
  return output_of("protoc --decode=overdub.test.Trace --proto_path=tests/contexts perfetto.proto < " + path);
}

/// A file that the destructor removes.
struct temporary_file {
  std::string path;

  explicit temporary_file(std::string const& name)
      : path("/tmp/overdub_test_" + std::to_string(getpid()) + "_" + name) {}
  ~temporary_file() { std::remove(path.c_str()); }
  temporary_file(temporary_file const&) = delete;
  temporary_file& operator=(temporary_file const&) = delete;
};

} // namespace spans
