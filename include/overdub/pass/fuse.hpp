// fuse: loop fusion (deforestation). A map whose elements are read by one other map or loop, at the index of the iteration,
// is computed there, without an array in between. A map of which one element is read is computed at that index only.
// Fuses pure maps, and maps that may fail where nothing else may. Requires a valid program; finds more after simplify and
// cse have unified lengths. Preserves which error is thrown. Idempotent. Never raises the cost.
//
// A map that feeds a reduction stays: where `streamed_into` returns the reduction, an executor computes the elements on
// demand, in the reduction's own order.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/ir/program.hpp>

#include <cstddef>

namespace overdub::pass {

/// The reduction that alone uses the results of a map, as its arrays, in the same region; nothing, if there is none. If the
/// map is pure, its elements may be computed one by one as the reduction reads them. O(uses).
ir::node_id streamed_into(ir::function const& f, ir::node_id map);

/// Returns the number of fused maps. O(operations); recursive over the depth of regions.
std::size_t fuse(ir::program& p);

} // namespace overdub::pass
