// Long mode: further compositions of the contexts of the other sources.
// The law of contexts, for three contexts in one composition.
#include "laws/support/context_law.hpp"

namespace {
using namespace made_contexts;
using namespace random_function;

using compositions = types<types<
    made_of<'a', becomes_of_two<mul_t, sub_t>, observes_functions<'a'>>,
    made_of<'b', goes_on<f_one>, observes_sum<'b'>>, light_observer<'c'>>>;
} // namespace

TEST_CASE("the law of contexts holds for three contexts") { context_law::check_in(compositions{}); }
