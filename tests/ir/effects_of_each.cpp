// The analysis of all operations agrees with that of each one.
#include "catch.hpp"
#include "pass/random_program.hpp"

#include <overdub/ir/effects.hpp>

TEST_CASE("the effects of all operations of random programs equal those of each one") {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    auto const p = random_program::make(seed, random_program::any_options(seed));
    overdub::ir::effects const known(p);
    for (auto const& f : p.functions) {
      auto const each = known.of_each(f);
      overdub::ir::walk(f, f.body, [&](overdub::ir::node_id n) {
        INFO("random program " << seed << ", operation " << index_of(n));
        CHECK(each[index_of(n)] == known.of(f, n));
      });
    }
  }
}
