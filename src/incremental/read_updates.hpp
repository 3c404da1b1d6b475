// Reads of elements of arrays of which some elements changed.
#pragma once

#include <overdub/implementation/incremental/changed_lists.hpp>
#include <overdub/implementation/incremental/update_writer.hpp>

#include <cstddef>
#include <vector>

namespace overdub::increments {

void visit_at(update_writer& w, node_id n);

// Parts of it.
void select_row(update_writer& w, node_id n, change const& c);
void select_element(
    update_writer& w, change const& c, std::vector<value_id> const& indices, std::size_t k, value_id where,
    value_id& found);
bool has_old_indices(update_writer const& w, node_id n);

} // namespace overdub::increments
