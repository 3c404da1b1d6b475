// Long mode: further compositions of the contexts of the other sources.
// The law of contexts, for contexts that observe control primitives.
#include "laws/support/context_law.hpp"

namespace {
using namespace made_contexts;
using namespace random_function;

using compositions = types<
    types<made_of<
        'a', observes_loops<'a'>, observes_open_loops<'a'>, observes_branches<'a'>,
        observes_reductions<'a'>>>,
    outside_observer<replaces_one, observes_branches>>;
} // namespace

TEST_CASE("the law of contexts holds where control is observed") { context_law::check_in(compositions{}); }
