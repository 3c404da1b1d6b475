// What is not needed is dropped.
#include "pass/laws.hpp"

#include <overdub/pass/dce.hpp>

TEST_CASE("random programs without what they do not need are valid, and mean the same, errors included") {
  laws::hold_for(overdub::pass::dce, laws::errors::same, 0, 2000);
}
