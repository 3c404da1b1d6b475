// The commit of a proposal.
#pragma once

#include <overdub/incremental/incremental_state.hpp>

namespace overdub::increments {

/// Writes the proposal of any update program and the pending changes to the saved values, in an order in which running out of memory leaves
/// no wrong value.
void commit_changes(incremental_state& s);

} // namespace overdub::increments
