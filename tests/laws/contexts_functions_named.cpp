// Long mode: its contexts take a compiler a minute.
// The law of contexts, for contexts that replace one function by name.
#include "laws/support/context_law.hpp"

namespace {
using namespace made_contexts;
using namespace random_function;

using compositions = types<outside_observer<replaces_one>, inside_observer<replaces_array>>;
} // namespace

TEST_CASE("the law of contexts holds for a rule of one function") { context_law::check_in(compositions{}); }
