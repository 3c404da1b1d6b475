// Long mode: further compositions of the contexts of the other sources.
// The law of contexts, for a context with metadata whose rule names a function, inside of another context.
#include "laws/support/context_law.hpp"

#include <overdub/contexts/forward.hpp>

namespace {
using namespace made_contexts;
using namespace random_function;

using compositions = types<types<
    made_of<'a', becomes_of_two<mul_t, sub_t>, observes_product<'a'>, observes_functions<'a'>>,
    made_of<'m', contexts::forward, with_natives, scales_metadata_of_one>>>;
} // namespace

TEST_CASE("the law of contexts holds for a rule that names a function, in a context with metadata") {
  context_law::check_in(compositions{});
}
