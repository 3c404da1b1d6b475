// Long mode, run by g++: each of its many contexts has tables of all operations, which take a compiler minutes and up to 10 GB.
// The law of contexts, for contexts with metadata outside of others.
#include "laws/support/context_law.hpp"

#include <overdub/contexts/forward.hpp>

namespace {
using namespace made_contexts;
using namespace random_function;

using compositions = types<around_part<contexts::forward, becomes_of_two<mul_t, sub_t>>>;
} // namespace

TEST_CASE("the law of contexts holds for contexts with metadata") { context_law::check_in(compositions{}); }
