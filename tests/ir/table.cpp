// Every row of the table of operations is complete, and has text tests.
#include "catch.hpp"

#include <overdub/ir/op.hpp>
#include <overdub/ir/parse.hpp>
#include <overdub/ir/walk.hpp>

#include <algorithm>
#include <bitset>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace {

using namespace overdub::ir;

op code_at(std::size_t i) { return static_cast<op>(i); }

// The program of a text test; nothing for programs that must be rejected.
program program_in(std::string const& text) {
  try {
    return parse(std::string_view(text).substr(0, text.find("\n; ----")));
  } catch (parse_error const&) {
    return {};
  }
}

// The operations in the programs of text tests that run something.
std::bitset<op_count> operations_that_are_run() {
  std::bitset<op_count> found;
  for (auto const& entry : std::filesystem::directory_iterator("tests/programs")) {
    std::ifstream in(entry.path());
    std::string const text{std::istreambuf_iterator<char>(in), {}};
    if (entry.path().extension() != ".od" || text.find("\n; run: @") == std::string::npos) continue;
    for (function const& f : program_in(text).functions)
      walk(f, function::body, [&](node_id n) { found.set(static_cast<std::size_t>(f[n].code)); });
  }
  return found;
}

} // namespace

TEST_CASE("each operation has a unique name, by which it is found") {
  for (std::size_t i = 0; i < op_count; ++i) {
    std::string_view const name = name_of(code_at(i));
    INFO(name);
    CHECK(!name.empty());
    CHECK(std::ranges::all_of(
        name, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; }));
    CHECK(op_of(name) == code_at(i));
  }
}

TEST_CASE("each operation has a number of operands, a cost and an effect that are consistent") {
  for (std::size_t i = 0; i < op_count; ++i) {
    op_row const& row = row_of(code_at(i));
    INFO(row.name);
    CHECK(row.least <= row.most);
    CHECK((row.cost > 0 || code_at(i) == op::yield));
    if (row.elementwise) {
      CHECK(row.least == row.most);
      CHECK(row.regions == 0);
      CHECK((row.effects == overdub::effect::pure || row.effects == overdub::effect::may_fail));
    }
  }
}

TEST_CASE("each operation has a text test that runs it") {
  std::bitset<op_count> const found = operations_that_are_run();
  for (std::size_t i = 0; i < op_count; ++i) {
    INFO(
        name_of(code_at(i)) << " stands in no program of tests/programs/ with a line \"; run: @...\"; add "
                               "a text test");
    CHECK(found[i]);
  }
}
