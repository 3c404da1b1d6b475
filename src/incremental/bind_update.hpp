// Binds update programs to the saved values and the pending changes of an incremental program.
#pragma once

#include <overdub/incremental/bound_update.hpp>
#include <overdub/incremental/incremental_state.hpp>
#include <overdub/incremental/pending_changes.hpp>
#include <overdub/incremental/saved_values.hpp>

#include <memory>

namespace overdub::increments {

/// Binds an update program for the pending changes, whose signature is given; an empty one stands for a program that recomputes everything.
std::unique_ptr<bound_update>
bind(std::shared_ptr<runnable_update const> program, change_signature signature, incremental_state& s);

/// Finds the addresses from which arguments that are words are copied, and to which.
void bind_arguments(bound_update& b, saved_values& saved, pending_changes const& changes);
/// Lends the saved arrays, or updates their lengths.
void lend_arrays(bound_update& b, saved_values const& saved);
/// Finds the addresses of the results, and where a commit copies them.
void bind_results(bound_update& b, saved_values& saved, pending_changes const& changes);

} // namespace overdub::increments
