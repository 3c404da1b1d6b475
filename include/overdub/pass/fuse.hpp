// fuse: a map whose elements are read by one other map or loop, at that one's own index, is computed there, and no array is
// made between; one of which a single element is read, where that is read.
// Fuses what is pure, and what may fail where nothing else may. Needs a valid program; finds more when equal lengths are
// one value (simplify, cse). Keeps which error is thrown. Idempotent. Lowers the cost, never raises it.
//
// A map that feeds a reduction stays as it is: where `streamed_into` says so, an executor computes its elements as the
// reduction takes them, in the reduction's own order.
#pragma once

#include <overdub/header_only.hpp>
#include <overdub/ir/program.hpp>

#include <cstddef>

namespace overdub::pass {

/// The reduction that alone uses a map's results, as its arrays, in the map's own region; nothing, if there is no such. If
/// the map is pure, its elements may be computed one by one, when the reduction asks for them. O(uses).
OVERDUB_DECL ir::node_id streamed_into(ir::function const& f, ir::node_id map);

/// Returns how many maps were fused. O(operations); recursive over the depth of regions.
OVERDUB_DECL std::size_t fuse(ir::program& p);

} // namespace overdub::pass

#if OVERDUB_HEADER_ONLY
#include <overdub/pass/fuse.ipp>
#endif
