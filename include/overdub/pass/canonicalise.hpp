// canonicalise: gives programs that differ only in what no one can see one form, so that they print alike and have one key.
// Needs a valid program; keeps its meaning, and not which of several errors between two ordered effects is thrown.
// Idempotent. Merges equal operations, drops what is not needed, and lowers the cost.
//
// The form: in each region, operations with ordered effects stand in their order. Before each of them, and before the
// yield, stand: what makes random choices, in the order given; what is used by nothing (asserts), in the order given; then
// what the next one needs, operands first; then what may fail and is needed later, in the order in which it will be. What
// may fail is never moved across an ordered effect, and what chooses, or adds to accumulators, keeps its order; what is
// pure stands where it is first needed, in the outermost region that computed it. Of what uses an array, all that may
// stands in front of the last operation that may write into its buffer (take_over.hpp). Operands keep their order.
// Functions are sorted by name and signature, values have no names, numbers are dense.
#pragma once

#include <overdub/header_only.hpp>
#include <overdub/ir/program.hpp>

#include <cstddef>

namespace overdub::pass {

/// O(operations), where what merging makes equal is not merged again; recursive over the depth of regions.
OVERDUB_DECL void canonicalise(ir::program& p);

} // namespace overdub::pass

#if OVERDUB_HEADER_ONLY
#include <overdub/pass/canonicalise.ipp>
#endif
