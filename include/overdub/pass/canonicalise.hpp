// canonicalise: gives programs that differ in unobservable ways only one form, so that they print alike and have one key.
// Requires a valid program. Preserves semantics, except which of several errors between two ordered effects is thrown.
// Idempotent. Includes common-subexpression and dead-code elimination, and never raises the cost.
//
// The canonical form. In each region, operations with ordered effects keep their order. They, and the yield, end segments.
// The operations of a segment are sorted: first random choices, in the original order; then unused operations (asserts), in
// the original order; then the operands of the segment's end, in depth-first order; then operations that may fail and are
// needed in a later segment, in the order of their use. An operation that may fail never crosses an ordered effect; random
// choices and additions to accumulators keep their order. A pure operation is placed where it is first needed, in the
// outermost region that computes it. Uses of an array are placed, where possible, before the last operation that may reuse
// its buffer (buffer_reuse.hpp). Operands keep their order. Functions are sorted by name and signature, values lose their
// names, and ids are dense.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/ir/program.hpp>

#include <cstddef>

namespace overdub::pass {

/// O(operations), without merging again what merging made equal; recursive over the depth of regions.
void canonicalise(ir::program& p);

} // namespace overdub::pass
