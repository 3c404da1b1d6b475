// Programs that are refused, as text: tests/ir/rejected/*.od. A comment `; error: regex` stands on each line where the parser,
// or the verifier when the text can be parsed, must find something wrong; nothing else may be found.
#include "catch.hpp"

#include <overdub/ir/parse.hpp>
#include <overdub/ir/verify.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace overdub::ir;

struct line_and_text {
  std::size_t line;
  std::string text;
};

std::vector<line_and_text> expected_in(std::string const& text) {
  std::string_view const mark = "; error: ";
  std::vector<line_and_text> all;
  std::size_t line = 0;
  for (std::size_t begin = 0; begin < text.size(); begin = text.find('\n', begin) + 1) {
    ++line;
    std::string const content = text.substr(begin, text.find('\n', begin) - begin);
    for (std::size_t at = content.find(mark); at != std::string::npos;) {
      std::size_t const next = content.find(mark, at + 1);
      std::string regex = content.substr(at + mark.size(), next - at - mark.size());
      regex.erase(regex.find_last_not_of(' ') + 1);
      all.push_back({line, regex});
      at = next;
    }
  }
  return all;
}

// The line of what a diagnostic of the verifier is about.
std::size_t line_of(program const& p, diagnostic const& d) {
  if (d.where == nothing) return 0;
  function const& f = p[d.where];
  place_id const place = d.at == nothing ? f.place : f[d.at].place;
  return p[place].line;
}

std::vector<line_and_text> found_in(std::string const& text) {
  std::vector<line_and_text> all;
  try {
    program const p = parse(text, {.file = "text"});
    for (diagnostic const& d : faults_of(p)) all.push_back({line_of(p, d), d.text});
  } catch (parse_error const& e) {
    for (diagnostic const& d : e.diagnostics) all.push_back({d.line, d.text});
  }
  return all;
}

} // namespace

TEST_CASE("programs are refused for what their comments say, on those lines, and for nothing else") {
  std::size_t files = 0;
  for (auto const& entry : std::filesystem::directory_iterator("tests/ir/rejected")) {
    if (entry.path().extension() != ".od") continue;
    ++files;
    std::ifstream in(entry.path());
    std::string const text{std::istreambuf_iterator<char>(in), {}};
    std::vector<line_and_text> found = found_in(text);
    std::vector<line_and_text> const expected = expected_in(text);
    CHECK_FALSE(expected.empty());
    for (line_and_text const& e : expected) {
      auto const at = std::find_if(found.begin(), found.end(), [&](line_and_text const& d) {
        return d.line == e.line && std::regex_search(d.text, std::regex(e.text));
      });
      INFO(entry.path().string() << ":" << e.line << ": not found: " << e.text);
      CHECK(at != found.end());
      if (at != found.end()) found.erase(at);
    }
    for (line_and_text const& d : found)
      FAIL_CHECK(entry.path().string() << ":" << d.line << ": not expected: " << d.text);
  }
  CHECK(files >= 6);
}
