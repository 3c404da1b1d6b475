// Long mode, run by g++: each of its many contexts has tables of all operations, which take a compiler minutes and up to 10 GB.
// The law of contexts, for rules and hooks of reductions that name the operation.
#include "laws/support/context_law.hpp"

namespace {
using namespace made_contexts;
using namespace random_function;

using compositions = types<
    types<made_of<'a', scales_largest, observes_combinations<'a'>>>,
    types<made_of<'a', becomes_of_two<add_t, sub_t>>, made_of<'b', observes_combinations<'b'>>>>;
} // namespace

TEST_CASE("the law of contexts holds for rules and hooks that name the operation of a reduction") {
  context_law::check_in(compositions{});
}
