// Operations that are recomputed in full: copies with the new values of their operands.
#pragma once

#include <overdub/implementation/incremental/update_writer.hpp>

#include <vector>

namespace overdub::increments {

std::vector<value_id> emit_in_full(update_writer& w, node_id n);
value_map captured_values(update_writer& w, node_id n);
void copy_region(update_writer& w, region_id r, value_map& here);
value_id mapped(update_writer& w, value_map const& here, value_id v);

// Parts of these.
value_map values_of(update_writer& w, node_id n);
void record_inside(update_writer& w, node_id n, value_map const& here);

/// Copies the operations of a region but for its terminator.
inline void copy_region(update_writer& w, region_id r, value_map& here) {
  for (node_id m = w.original()[r].first; m != w.original()[r].last; m = w.original()[m].next)
    (void)w.code.cursor.clone(w.code.source, m, here);
}

inline value_id mapped(update_writer& w, value_map const& here, value_id v) {
  return w.original().is_literal(v) ? w.code.literal(w.original().type_of(v), w.original().bits_of(v))
                                    : here.at(v);
}

} // namespace overdub::increments
