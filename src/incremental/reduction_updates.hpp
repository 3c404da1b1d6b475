// Reductions. Sums are updated by the difference of their elements, with compensation (TwoSum). Others are updated along a path of a
// segment tree, from the changed element to the root.
#pragma once

#include <overdub/implementation/incremental/recomputation.hpp>
#include <overdub/implementation/incremental/update_writer.hpp>

#include <cstddef>
#include <string_view>
#include <vector>

namespace overdub::increments {

std::string_view why_recompute_sum(update_writer& w, node_id n);
void update_sum(update_writer& w, node_id n);
std::string_view why_recompute_reduction(update_writer& w, node_id n);
values update_path(update_writer& w, node_id n);
void rebuild_saved_trees(update_writer& w, node_id n);

/// The path in a segment tree from a leaf to the root: positions, and the values of each array, by level.
struct tree_path {
  value_id index = ir::nothing, positions = ir::nothing;
  std::vector<value_id> leaves, values, root;
};

// Parts of these.
tree_path emit_path(
    update_writer& w, node_id n, std::size_t delta_index, value_id size, std::vector<value_id> const& trees,
    std::vector<tree_path> const& earlier, value_map const& outer_values);
std::vector<value_id> combined_with_initial_values(
    update_writer& w, node_id n, value_id size, std::vector<value_id> const& root,
    value_map const& outer_values);
std::vector<value_id> combine(
    update_writer& w, node_id n, std::vector<value_id> const& left, std::vector<value_id> const& right,
    value_map const& outer_values);

// ---- segment trees

// A reduction combines its elements in a balanced tree: neighbours are combined in pairs, level by level; an element without a neighbour
// goes up unchanged. All nodes are saved in one array: the elements, then each level, and last the root. Without elements a zero stands
// for the root.

} // namespace overdub::increments
