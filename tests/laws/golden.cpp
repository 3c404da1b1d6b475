// The text of staged programs is the same under every compiler. OVERDUB_BLESS=1 writes the texts again.
#include "catch.hpp"
#include "laws/support/cases.hpp"

#include <overdub/ir/print.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

namespace {

using namespace overdub;

void same_text(cases::sample const& each) {
  std::string const path = "tests/laws/golden/" + each.name + ".od";
  std::string const text = ir::print(each.program);
  if (std::getenv("OVERDUB_BLESS") != nullptr) std::ofstream(path) << text;
  std::stringstream golden;
  golden << std::ifstream(path).rdbuf();
  INFO(path << " has another text; OVERDUB_BLESS=1 writes it anew");
  CHECK(text == golden.str());
}

} // namespace

TEST_CASE("a staged function has its golden text") {
  for (auto const& each : cases::all()) same_text(each);
}

TEST_CASE("each golden text belongs to a function") {
  std::set<std::string> names;
  for (auto const& each : cases::all()) names.insert(each.name + ".od");
  for (auto const& file : std::filesystem::directory_iterator("tests/laws/golden"))
    CHECK(names.count(file.path().filename().string()) == 1);
}
