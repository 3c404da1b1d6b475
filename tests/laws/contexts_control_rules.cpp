// Long mode: further compositions of the contexts of the other sources.
// The law of contexts, for contexts that observe and replace loops, branches and reductions.
#include "laws/support/context_law.hpp"

namespace {
using namespace made_contexts;
using namespace random_function;

// The operations of a loop's body that is twice in a program are equal, and another context observes them once.
using compositions = types<
    types<made_of<
        'a', observes_loops<'a'>, observes_open_loops<'a'>, observes_branches<'a'>,
        observes_reductions<'a'>>>,
    outside_observer<replaces_one, observes_branches>,
    types<made_of<'a', repeats_loops, takes_two_steps, observes_sum<'a'>, observes_functions<'a'>>>,
    types<made_of<'a', negates_conditions, scales_reductions>, light_observer<'b'>>>;
} // namespace

TEST_CASE("the law of contexts holds for rules of control primitives") {
  context_law::check_in(compositions{});
}
