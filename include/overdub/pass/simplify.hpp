// simplify: rewrites operations by the laws in rules.hpp, and folds those on literals, until no law fits.
// Needs a valid program. Keeps results to the bit (payloads of NaNs apart), and which error is thrown. What it leaves
// unused is dropped by dce. Lowers the cost, never raises it.
#pragma once

#include <overdub/header_only.hpp>
#include <overdub/ir/program.hpp>

#include <cstddef>

namespace overdub::pass {

/// Returns how many operations were rewritten. O(operations), as loops do not carry constants along long chains; recursive
/// over the depth of regions.
OVERDUB_DECL std::size_t simplify(ir::program& p);

} // namespace overdub::pass

#if OVERDUB_HEADER_ONLY
#include <overdub/pass/simplify.ipp>
#endif
