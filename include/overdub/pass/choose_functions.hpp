// choose_functions: of an array of function values, the element that is asked for is chosen among those that the array was made
// of. So such arrays need not be made, which executors do not do; and which functions may be applied is known.
// Needs a valid program. Keeps everything that can be seen; an index that is out of range fails as it did. Idempotent. May raise
// the cost, by a comparison for each element.
#pragma once

#include <overdub/header_only.hpp>
#include <overdub/ir/program.hpp>

#include <cstddef>

namespace overdub::pass {

/// Returns how many elements are chosen now. O(operations, and elements of such arrays for each that is asked for).
OVERDUB_DECL std::size_t choose_functions(ir::program& p);

} // namespace overdub::pass

#if OVERDUB_HEADER_ONLY
#include <overdub/pass/choose_functions.ipp>
#endif
