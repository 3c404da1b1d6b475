// Run by g++: the sanitizers run contexts_composed, contexts_functions and contexts_natives, which share its code.
// The law of contexts, for rules that answer native functions.
#include "laws/support/context_law.hpp"

namespace {
using namespace made_contexts;
using namespace random_function;

using compositions = types<outside_observer<replaces_native>, inside_observer<clamps_guarded>>;
} // namespace

TEST_CASE("the law of contexts holds for rules of native functions") {
  context_law::check_in(compositions{});
}
