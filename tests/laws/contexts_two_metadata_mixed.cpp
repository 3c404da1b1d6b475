// Long mode: further compositions of the contexts of the other sources.
// The law of contexts, for two contexts with metadata by rules of different kinds.
#include "laws/support/context_law.hpp"

#include <overdub/contexts/forward.hpp>

namespace {
using namespace made_contexts;
using namespace random_function;

using compositions =
    types<types<made_of<'m', contexts::forward, with_natives>, made_of<'n', follows_depth, with_natives>>>;
} // namespace

TEST_CASE("the law of contexts holds for a derivative with metadata of another kind") {
  context_law::check_in(compositions{});
}
