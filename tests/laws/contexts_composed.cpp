// Long mode: its contexts take a compiler a minute.
// The law of contexts, for two contexts that each replace and observe.
#include "laws/support/context_law.hpp"

namespace {
using namespace made_contexts;
using namespace random_function;

using compositions = types<
    one_around_the_other<goes_on<f_one>, becomes_of_two<mul_t, sub_t>>,
    one_around_the_other<becomes_of_two<add_t, sub_t>, goes_on<f_two>>>;
} // namespace

TEST_CASE("the law of contexts holds for two contexts with rules") { context_law::check_in(compositions{}); }
