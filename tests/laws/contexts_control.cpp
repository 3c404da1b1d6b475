// Run by g++: each of its contexts has tables of all operations.
// The law of contexts, for contexts that observe and replace control primitives on numbers.
#include "laws/support/context_law.hpp"

namespace {
using namespace made_contexts;
using namespace random_function;

using compositions = types<
    types<made_of<'a', observes_control_of_numbers<'a'>>, made_of<'b', shifts_loops_of_numbers>>,
    types<made_of<'a', halves_branches_of_numbers, observes_control_of_numbers<'a'>>>>;
} // namespace

TEST_CASE("the law of contexts holds for rules and hooks of control primitives on numbers") {
  context_law::check_in(compositions{});
}
