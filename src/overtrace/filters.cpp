#include "callee.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <fnmatch.h>

namespace overdub::overtrace {
namespace {

std::vector<std::string> patterns_of(char const* variable) {
  std::vector<std::string> patterns;
  char const* const text = std::getenv(variable);
  if (text == nullptr) return patterns;
  std::string_view rest = text;
  while (!rest.empty()) {
    std::size_t const end = std::min(rest.find(';'), rest.size());
    if (end > 0) patterns.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return patterns;
}

bool any_matches(std::vector<std::string> const& patterns, std::string const& text) {
  return std::ranges::any_of(
      patterns, [&](std::string const& p) { return fnmatch(p.c_str(), text.c_str(), 0) == 0; });
}

} // namespace

filters filters::of_environment() {
  filters f{patterns_of("OVERTRACE_ONLY"), patterns_of("OVERTRACE_EXCEPT"), patterns_of("OVERTRACE_FILES")};
  if (char const* const text = std::getenv("OVERTRACE_DEPTH")) {
    std::string_view const digits = text;
    std::uint32_t depth = 0;
    auto const [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), depth);
    if (error == std::errc() && end == digits.data() + digits.size() && depth > 0)
      f.depth = depth;
    else
      std::fprintf(stderr, "overtrace: OVERTRACE_DEPTH is %s, and should be a number from 1 on\n", text);
  }
  return f;
}

bool filters::records(std::string_view name, std::string_view file) const {
  std::string const text(name);
  if (!only.empty() && !any_matches(only, text)) return false;
  if (any_matches(except, text)) return false;
  return files.empty() || any_matches(files, std::string(file));
}

filters const& process_filters() {
  static filters const& all = *new filters(filters::of_environment()); // used until the process ends
  return all;
}

} // namespace overdub::overtrace
