// Long mode: further compositions of the contexts of the other sources.
// The law of contexts, for rules of native functions.
#include "laws/support/context_law.hpp"

namespace {
using namespace made_contexts;
using namespace random_function;

using compositions = types<outside_observer<replaces_native>, inside_observer<clamps_guarded>>;
} // namespace

TEST_CASE("the law of contexts holds for rules of native functions") {
  context_law::check_in(compositions{});
}
