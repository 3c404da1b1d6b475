// cse: an operation that computes what an earlier one has computed is erased, and its uses become the earlier results.
// Merges what is pure, and what may fail (the earlier one has run, and did not); operations with regions too. Needs a valid
// program. Keeps the order of operations, and which error is thrown. Idempotent. Lowers the cost, never raises it.
#pragma once

#include <overdub/header_only.hpp>
#include <overdub/ir/program.hpp>

#include <cstddef>

namespace overdub::pass {

/// Merges equal operations in every function. Returns how many were erased. O(operations).
OVERDUB_DECL std::size_t cse(ir::program& p);

} // namespace overdub::pass

#if OVERDUB_HEADER_ONLY
#include <overdub/pass/cse.ipp>
#endif
