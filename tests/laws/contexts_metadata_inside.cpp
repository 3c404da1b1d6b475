// Long mode: further compositions of the contexts of the other sources.
// The law of contexts, for contexts with metadata inside of others.
#include "laws/support/context_law.hpp"

namespace {
using namespace made_contexts;
using namespace random_function;

using compositions = types<inside_part<follows_depth, replaces_one>>;
} // namespace

TEST_CASE("the law of contexts holds for contexts with metadata inside of others") {
  context_law::check_in(compositions{});
}
