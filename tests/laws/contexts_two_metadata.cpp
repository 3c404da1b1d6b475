// Long mode: further compositions of the contexts of the other sources.
// The law of contexts, for two contexts with metadata: the inner one has metadata of the outer one's, too.
#include "laws/support/context_law.hpp"

#include <overdub/contexts/forward.hpp>

namespace {
using namespace made_contexts;
using namespace random_function;

using compositions = types<
    types<made_of<'m', contexts::forward, with_natives>, made_of<'n', contexts::forward, with_natives>>>;
} // namespace

TEST_CASE("the law of contexts holds for metadata of metadata") { context_law::check_in(compositions{}); }
