// Equal operations are merged.
#include "pass/laws.hpp"

#include <overdub/pass/cse.hpp>

TEST_CASE("random programs whose equal operations are merged are valid, and mean the same, errors included") {
  laws::hold_for(overdub::pass::cse, laws::errors::same, 0, 2000);
}
