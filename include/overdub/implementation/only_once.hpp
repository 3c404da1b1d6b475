// Implementations are for programs whose units see declarations alone, and that do not link overdub::compiled.
#pragma once

#include <overdub/header_only.hpp>

#if OVERDUB_HEADER_ONLY
#error "overdub: an implementation is included by one unit of a program, and all of its units are compiled with -DOVERDUB_COMPILED; without this macro, each unit has what it needs, and none includes an implementation"
#endif
