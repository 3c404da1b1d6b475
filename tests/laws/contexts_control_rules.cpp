// Long mode: further compositions of the contexts of the other sources.
// The law of contexts, for contexts that observe and replace loops, branches and reductions.
#include "laws/support/context_law.hpp"

namespace {
using namespace made_contexts;
using namespace random_function;

// A loop's body that stands twice in a program has operations that are equal, which another context sees once.
using compositions = types<
    types<made_of<
        'a', observes_loops<'a'>, observes_open_loops<'a'>, observes_branches<'a'>,
        observes_reductions<'a'>>>,
    outside_observer<replaces_one, observes_branches>,
    types<made_of<'a', repeats_loops, takes_two_steps, observes_sum<'a'>, observes_functions<'a'>>>,
    types<made_of<'a', negates_conditions, scales_reductions>, light_observer<'b'>>>;
} // namespace

TEST_CASE("the law of contexts holds where control is replaced") { context_law::check_in(compositions{}); }
