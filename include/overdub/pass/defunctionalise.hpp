// defunctionalise: function values become data (Reynolds, Definitional interpreters for higher-order programming languages, 1972).
// One that may be several functions is the number of its function, and slots for what was captured; where it is applied, a function
// is called that branches on the number. Reabstractions are nothing then. What is written about function values in data, as
// derivatives backwards, need not be written about function values.
// Needs a valid program with an entry, or does nothing. Keeps everything that can be seen. A program in which that cannot be done
// is left as it was, and a note of the program says why: function values that are given to the entry or to the host, or come from
// there; closures that capture such closures again, through others or not, without end; arrays of function values that
// captured arrays; keys and objects of the host that one of several closures captured. Functions that the entry does not reach are
// erased. Idempotent. May raise the cost: what a function value captured is copied with it.
#pragma once

#include <overdub/header_only.hpp>
#include <overdub/ir/program.hpp>

#include <cstddef>

namespace overdub::pass {

/// Returns how many operations made, applied or reabstracted function values; 0, where there are none or they stay.
/// O(operations + closures × (function values and what joins them)).
OVERDUB_DECL std::size_t defunctionalise(ir::program& p);

} // namespace overdub::pass

#if OVERDUB_HEADER_ONLY
#include <overdub/pass/defunctionalise.ipp>
#endif
