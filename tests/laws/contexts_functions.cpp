// Run by clang: g++ compiles the other sources of this law.
// The law of contexts, for contexts that replace functions by name.
#include "laws/support/context_law.hpp"

namespace {
using namespace made_contexts;
using namespace random_function;

using compositions = types<outside_observer<replaces_small>, beside_observer<falls_back_in_two>>;
} // namespace

TEST_CASE("the law of contexts holds for rules of functions") { context_law::check_in(compositions{}); }
