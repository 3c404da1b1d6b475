// Updates of branches: if the condition is unchanged, the taken branch is updated; if it flips, the other branch is computed in full.
#pragma once

#include <overdub/implementation/incremental/map_updates.hpp>
#include <overdub/implementation/incremental/recomputation.hpp>
#include <overdub/implementation/incremental/update_writer.hpp>

#include <cstdint>
#include <vector>

namespace overdub::increments {

/// The changes of the values that a branch yields.
struct branch_update {
  struct one {
    bool changed = false;
    value_id new_value = ir::nothing, difference = ir::nothing;
    std::vector<delta> deltas;
  };
  std::vector<one> results;
};

void visit_branch(update_writer& w, node_id n);

// Parts of it.
branch_update update_branch(update_writer& w, node_id n, std::uint32_t i, value_id taken, bool as_whole);
std::vector<value_id> emit_flipped(update_writer& w, node_id n, value_id flips);
bool has_only_elements(update_writer const& w, change const& c, region_id inside);

/// Computes the other branch in full if the condition flips.
inline std::vector<value_id> emit_flipped(update_writer& w, node_id n, value_id flips) {
  return emit_if(w, flips, [&] { return emit_in_full(w, n); });
}

} // namespace overdub::increments
