// Long mode: further compositions of the contexts of the other sources.
// The law of contexts, for metadata between two contexts that replace and observe.
#include "laws/support/context_law.hpp"

#include <overdub/contexts/forward.hpp>

namespace {
using namespace made_contexts;
using namespace random_function;

using compositions = types<types<
    made_of<'a', becomes_of_two<mul_t, sub_t>, observes_functions<'a'>>,
    made_of<'m', contexts::forward, with_natives>,
    made_of<'b', becomes<sin_t, cos_t>, observes_product<'b'>>>>;
} // namespace

TEST_CASE("the law of contexts holds for metadata between two other contexts") {
  context_law::check_in(compositions{});
}
