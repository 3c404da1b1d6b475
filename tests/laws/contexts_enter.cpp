// Long mode: its contexts take a compiler a minute.
// The law of contexts, for contexts that leave functions, or enter them in another context.
#include "laws/support/context_law.hpp"

namespace {
using namespace made_contexts;
using namespace random_function;

using compositions = types<
    beside_observer<enters_one>, beside_observer<enters_scales>,
    types<made_of<'a', enters_all, observes_functions<'a'>>>, beside_observer<leaves_calls_of_two_numbers>,
    one_around_the_other<replaces_array, leaves_two>>;
} // namespace

TEST_CASE("the law of contexts holds for contexts with enter") { context_law::check_in(compositions{}); }
