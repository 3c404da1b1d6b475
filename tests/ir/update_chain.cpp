// The versions of an array that updates and copies create.
#include "catch.hpp"

#include <overdub/implementation/ir/update_chain.hpp>
#include <overdub/ir/bounds.hpp>
#include <overdub/ir/parse.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace {

using namespace overdub::ir;

// %v0, and after it versions of it, each a copy or an update of the one before it.
program versions(int count) {
  std::string text = "func @f(%v0: f64[]) -> f64[] {\n";
  for (int i = 1; i <= count; ++i) {
    std::string const before = "%v" + std::to_string(i - 1);
    text += "  %v" + std::to_string(i) + " = " +
            (i % 2 == 0 ? "copy " + before : "update " + before + ", 0, 1.0") + " : f64[]\n";
  }
  return parse(text + "  return %v" + std::to_string(count) + "\n}");
}

} // namespace

TEST_CASE("a chain of updates and copies is followed from version to version, as far as the limit") {
  program const p = versions(12);
  function const& f = p[function_id{0}];
  std::vector<value_id> all{f.argument(function::body, 0)};
  for (node_id const n : f.nodes_of(function::body))
    if (f[n].result_count > 0) all.push_back(f.result(n));
  REQUIRE(all.size() == 13);
  CHECK(previous_version(f, all[0]) == nothing);
  for (std::size_t i = 1; i < all.size(); ++i) CHECK(previous_version(f, all[i]) == all[i - 1]);
  for (std::uint32_t limit = 0; limit < 15; ++limit)
    CHECK(before_updates(f, all[12], limit) == all[limit < 12 ? 12 - limit : 0]);
  CHECK(before_updates(f, all[12], any_number) == all[0]);
  CHECK(before_updates(f, all[12]) != all[0]); // O(1)
  CHECK(before_updates(f, all[4]) == all[0]);
}
