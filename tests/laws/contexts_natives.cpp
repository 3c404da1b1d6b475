// Long mode: its contexts take a compiler a minute.
// The law of contexts, for native functions.
#include "laws/support/context_law.hpp"

namespace {
using namespace made_contexts;
using namespace random_function;

using compositions = types<
    beside_observer<clamps_guarded>,
    types<made_of<'a', observes_natives<'a'>>, made_of<'b', observes_native<'b'>, observes_guarded<'b'>>>>;
} // namespace

TEST_CASE("the law of contexts holds for native functions") { context_law::check_in(compositions{}); }
