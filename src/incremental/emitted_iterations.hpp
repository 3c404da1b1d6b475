// The affected iterations in the update program: their indices, or lists of these, and the conditions that they exist.
#pragma once

#include <overdub/implementation/incremental/affected_iterations.hpp>
#include <overdub/implementation/incremental/changed_lists.hpp>
#include <overdub/implementation/incremental/update_writer.hpp>

#include <string_view>
#include <vector>

namespace overdub::increments {

/// An affected iteration, or a list of these.
struct affected {
  delta from;
  value_id known_index = ir::nothing;           // of the function: an index that is known in the iteration,
  value_id known_as = ir::nothing;              // and its value in the update program
  bool may_precede = false, may_exceed = false; // the index may be out of the range of iterations
  bool is_checked() const { return may_precede || may_exceed; }
};

std::vector<affected> emit_affected(update_writer& w, node_id n, std::vector<affected_read> const& reads);
std::string_view guard_common_reads(update_writer& w, std::vector<common_read> const& all);
value_id in_range(update_writer& w, node_id n, affected const& r);
value_id is_covered_by(update_writer& w, affected const& earlier, affected const& later, value_id index);

// Parts of these.
affected emit_own_index(update_writer& w, affected_read const& read);
affected emit_matching_iterations(update_writer& w, affected_read const& read);
affected emit_gathered_rows(update_writer& w, node_id n, affected_read const& read);

} // namespace overdub::increments
