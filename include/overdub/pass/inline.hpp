// inline_calls: calls of small functions, and of functions that are called once, become copies of their bodies. Functions
// that may call themselves stay, and those that say how they are differentiated. In a program with an entry, functions that nothing
// calls any more are erased, but for some that rules of derivatives call. Needs a valid program. Keeps everything that can be seen.
// Not idempotent: what has grown by it may be called once now. Lowers the cost, never raises it.
#pragma once

#include <overdub/header_only.hpp>
#include <overdub/ir/program.hpp>

#include <cstddef>

namespace overdub::pass {

/// Functions of at most `small` operations are inlined wherever they are called. Returns how many calls were. O(operations,
/// and those copied).
OVERDUB_DECL std::size_t inline_calls(ir::program& p, std::size_t small = 24);

} // namespace overdub::pass

#if OVERDUB_HEADER_ONLY
#include <overdub/pass/inline.ipp>
#endif
