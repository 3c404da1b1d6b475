// Long mode: further compositions of the contexts of the other sources.
// The law of contexts, for programs that are evaluated in contexts, too.
#include "laws/support/context_law.hpp"

namespace {
using namespace made_contexts;
using namespace random_function;

using compositions = types<
    context_law::evaluated<outside_observer<goes_on_in_all>>,
    context_law::evaluated<types<made_of<'a', becomes_of_two<mul_t, max_t>, observes_functions<'a'>>>>>;
} // namespace

TEST_CASE("the law of contexts holds for programs that are evaluated in contexts") {
  context_law::check_in(compositions{});
}
