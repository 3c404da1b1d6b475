// Long mode: its contexts take a compiler a minute.
// The law of contexts, for contexts that replace and observe maps and scans.
#include "laws/support/context_law.hpp"

namespace {
using namespace made_contexts;
using namespace random_function;

using compositions = types<
    types<made_of<'a', halves_maps, shifts_scans>, light_observer<'b'>>,
    types<
        made_of<'a', replaces_one, observes_maps<'a'>>,
        made_of<
            'b', names_maps_and_scans, observes_maps<'b'>, observes_scans<'b'>, observes_reductions<'b'>>>>;
} // namespace

TEST_CASE("the law of contexts holds for rules of maps and scans") { context_law::check_in(compositions{}); }
