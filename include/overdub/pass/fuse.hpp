// fuse: loop fusion (deforestation). A map whose elements are read by one other map or loop, at the index of the iteration,
// is computed there, without an array in between. A map of which one element is read is computed at that index only.
// Fuses pure maps, and maps that may fail where nothing else may. Requires a valid program; finds more after simplify and
// cse have unified lengths. Preserves which error is thrown. Idempotent. Never raises the cost.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/ir/program.hpp>

#include <cstddef>

namespace overdub::pass {

/// Returns the number of fused maps. O(operations); recursive over the depth of regions.
std::size_t fuse(ir::program& p);

} // namespace overdub::pass
