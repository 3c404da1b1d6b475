// Long mode: its contexts take a compiler a minute.
// The law of contexts, for rules that recurse.
#include "laws/support/context_law.hpp"

namespace {
using namespace made_contexts;
using namespace random_function;

using compositions = types<
    beside_observer<goes_on<f_two>>, outside_observer<goes_on_in_all>, inside_observer<goes_on_in_counted>>;
} // namespace

TEST_CASE("the law of contexts holds for rules that recurse") { context_law::check_in(compositions{}); }
