// One form for programs that differ in what no one can see.
#include "pass/laws.hpp"
#include "pass/shuffle.hpp"

#include <overdub/pass/canonicalise.hpp>
#include <overdub/pass/dce.hpp>

TEST_CASE("the canonical form of random programs is valid, means the same, and is its own canonical form") {
  laws::hold_for(overdub::pass::canonicalise, laws::errors::any, 0, 3000);
}

TEST_CASE("random orders of one program have one canonical form") {
  for (std::uint64_t seed = 0; seed < laws::seeds(3000); ++seed) {
    auto p = random_program::make(seed);
    overdub::pass::dce(p); // what nothing uses keeps its order, and here it is easily seen what that is
    auto other = p;
    random_program::shuffle(other, seed);
    overdub::pass::canonicalise(p);
    overdub::pass::canonicalise(other);
    INFO("random program " << seed);
    REQUIRE(p == other);
  }
}
