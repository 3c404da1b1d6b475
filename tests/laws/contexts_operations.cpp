// Run by g++: each of its contexts has tables of all operations.
// The law of contexts, for contexts that replace operations.
#include "laws/support/context_law.hpp"

namespace {
using namespace made_contexts;
using namespace random_function;

using compositions = types<
    outside_observer<becomes_of_two<mul_t, sub_t>>, inside_observer<becomes_of_two<add_t, max_t>>,
    beside_observer<shifts_mathematics>>;
} // namespace

TEST_CASE("the law of contexts holds for rules of operations") { context_law::check_in(compositions{}); }
