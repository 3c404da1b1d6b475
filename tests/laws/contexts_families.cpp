// Long mode: further compositions of the contexts of the other sources.
// The law of contexts, for contexts that observe families, and replace the operations of reductions.
#include "laws/support/context_law.hpp"

namespace {
using namespace made_contexts;
using namespace random_function;

using compositions =
    types<beside_observer<becomes<sin_t, cos_t>, observer>, outside_observer<becomes_of_two<max_t, min_t>>>;
} // namespace

TEST_CASE("the law of contexts holds for hooks of families of operations") {
  context_law::check_in(compositions{});
}
