// The switch over operations. A function's operations are visited in order, and code is emitted that recomputes those that a change
// affects. Unaffected values are read where an affected operation uses them: from memory, or recomputed from saved values.
#pragma once

#include <overdub/implementation/incremental/update_writer.hpp>

namespace overdub::increments {

void visit_length(update_writer& w, node_id n);
bool add_list_to_length(update_writer& w, node_id n);
void add_appended(update_writer& w, node_id n);
void add_difference(update_writer& w, node_id n);
void visit_reduction(update_writer& w, node_id n);
bool is_affected(update_writer& w, node_id n);
void visit(update_writer& w, node_id n);

} // namespace overdub::increments
