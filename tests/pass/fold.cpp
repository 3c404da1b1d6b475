// What is known before a program runs is computed.
#include "pass/laws.hpp"

#include <overdub/pass/fold.hpp>

TEST_CASE("random programs whose literals are folded are valid, and mean the same, errors included") {
  laws::hold_for(overdub::pass::fold, laws::errors::same, 0, 2000);
}
