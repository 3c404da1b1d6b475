// The operation of a region that contains an operation, against the operations that a walk over the region visits.
#include "catch.hpp"
#include "pass/random_program.hpp"

#include <overdub/implementation/ir/ancestor.hpp>
#include <overdub/ir/regions.hpp>
#include <overdub/ir/walk.hpp>

#include <cstdint>
#include <set>

using namespace overdub::ir;

TEST_CASE("exactly the operations and values in a region have an ancestor in it") {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    program const p = random_program::make(seed, random_program::any_options(seed));
    for (function const& f : p.functions)
      for (std::uint32_t k = 0; k < f.region_count(); ++k) {
        region_id const r{k};
        std::set<node_id> inside;
        if (f[r].parent == nothing || !f.is_erased(f[r].parent))
          walk(f, r, [&](node_id n) { inside.insert(n); });
        walk(f, function::body, [&](node_id n) {
          INFO("random program " << seed << ", region " << k << ", operation " << index_of(n));
          node_id const found = ancestor_in(f, n, r);
          REQUIRE((found != nothing) == inside.contains(n));
          REQUIRE(is_within(f, n, r) == inside.contains(n));
          for (value_id const v : f.results_of(n)) REQUIRE(is_defined_in(f, v, r) == inside.contains(n));
          for (region_id const inner : f.regions_of(n))
            for (value_id const v : f.arguments_of(inner))
              REQUIRE(is_defined_in(f, v, r) == (inner == r || inside.contains(n)));
          if (found == nothing) return;
          REQUIRE(f[found].parent == r);
          bool contains = found == n;
          for (region_id const inner : f.regions_of(found)) contains = contains || is_within(f, n, inner);
          REQUIRE(contains);
        });
      }
  }
}
