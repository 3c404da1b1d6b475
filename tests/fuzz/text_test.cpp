// Arbitrary bytes as a text test: its directives are parsed, or rejected with their line; and patterns match where they must.
#include "call.hpp"
#include "name_lists.hpp"
#include "test_file.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

using namespace overdub;

void check(bool holds, char const* law) {
  if (holds) return;
  std::fprintf(stderr, "%s\n", law);
  std::abort();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  tools::source const from{"fuzz.od", std::string(reinterpret_cast<char const*>(data), size)};
  tools::test_file const test = tools::read_test(from);
  check(!test.commands.empty() || !test.faults.empty(), "a file without a test is accepted");
  for (ir::diagnostic const& fault : test.faults) {
    check(fault.line > 0 && fault.column > 0, "a fault without a location");
    check(!tools::describe(from, fault).empty(), "a fault without a text");
  }
  for (tools::error_line const& e : test.errors)
    check(
        tools::contains(from.text, ".*" + e.pattern) == tools::contains(from.text, e.pattern),
        "a gap in front of a pattern changes what it is found in");

  std::string literally;
  for (char const c : from.text) (literally += '\\') += c;
  check(tools::contains(from.text, literally), "a text does not contain itself");
  try {
    tools::call const c = tools::parse_call(from.text);
    check(!c.function.empty() || from.text.find("@\"\"") != std::string::npos, "a call of nothing");
  } catch (tools::text_error const& e) {
    check(e.at <= from.text.size(), "a fault after the end");
  }
  return 0;
}
