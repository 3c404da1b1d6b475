// raise_reabstractions: function values that both branches give, or each turn of a loop, as ones of another type become so behind
// it, once; so do those of which one is selected, and those that leave what protects them. A closure among them is made of
// the type that the others have. One that both branches reabstract in the same way is reabstracted in front of them.
// Needs a valid program. Keeps everything that can be seen. Lowers the cost, never raises it; what has no other use is moved.
// What a loop does not change hoist moves in front of it.
#pragma once

#include <overdub/header_only.hpp>
#include <overdub/ir/program.hpp>

#include <cstddef>

namespace overdub::pass {

/// Returns how many results left an operation as what they were. O(operations).
OVERDUB_DECL std::size_t raise_reabstractions(ir::program& p);

} // namespace overdub::pass

#if OVERDUB_HEADER_ONLY
#include <overdub/pass/raise_reabstractions.ipp>
#endif
